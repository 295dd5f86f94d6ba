/** The answer, or a failure if it takes longer than the limit; the work itself goes on. */
export const inTime = async <Result>(
  limitMs: number,
  answer: Promise<Result>,
  failure: (message: string) => Error,
): Promise<Result> => {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure(`no answer within ${Math.round(limitMs)} ms`)), limitMs);
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
};
