/** Chance that comes from a seed alone: the same seed gives the same plan, on every machine. */
export interface Chance {
  /** From 0 up to 1, without 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** @throws {RangeError} of an empty list */
  oneOf<Choice>(choices: readonly Choice[]): Choice;
  /** So many lowercase hex characters. */
  hex(characters: number): string;
}

const UINT32 = 2 ** 32;

/** SplitMix32: small, even, and good enough to choose moments. Never for secrets. */
export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / UINT32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    oneOf: (choices) => {
      const chosen = choices[between(0, choices.length - 1)];
      if (chosen === undefined) throw new RangeError('there is nothing to choose from');
      return chosen;
    },
    hex: (characters) => Array.from({ length: characters }, () => between(0, 15).toString(16)).join(''),
  };
};
