/** Values by name, in the order in which they were set: what a context uses of a `Map`. */
export interface ValuesByName<Value> {
  readonly size: number;
  get(name: string): Value | undefined;
  set(name: string, value: Value): unknown;
  delete(name: string): unknown;
  keys(): IterableIterator<string>;
}

/**
 * Makes an empty {@link ValuesByName}. The deployment gives one that suits values which come and go with every call; all
 * behave as a `Map` does.
 */
export type NewMap = <Value>() => ValuesByName<Value>;

export const plainMap: NewMap = <Value>() => new Map<string, Value>();
