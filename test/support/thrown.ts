type ErrorClass<Thrown extends Error> = abstract new (...parts: never[]) => Thrown;

/** The error of one class that `work` throws. Nothing at all, and anything else, fails the test. */
export const thrown = <Thrown extends Error>(errorClass: ErrorClass<Thrown>, work: () => unknown): Thrown => {
  try {
    work();
  } catch (error) {
    return requireClass(errorClass, error);
  }
  throw new Error(`no ${errorClass.name} was thrown`);
};

/** The same of a promise. */
export const rejected = async <Thrown extends Error>(
  errorClass: ErrorClass<Thrown>,
  answer: Promise<unknown>,
): Promise<Thrown> => {
  try {
    await answer;
  } catch (error) {
    return requireClass(errorClass, error);
  }
  throw new Error(`no ${errorClass.name} was thrown`);
};

const requireClass = <Thrown extends Error>(errorClass: ErrorClass<Thrown>, error: unknown): Thrown => {
  if (error instanceof errorClass) return error;
  throw error;
};
