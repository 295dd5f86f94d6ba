export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
}

/** A promise that the test settles itself: `Promise.withResolvers`, which Node has from version 22. */
export const deferred = <Value = void>(): Deferred<Value> => {
  let settle: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle(value) };
};
