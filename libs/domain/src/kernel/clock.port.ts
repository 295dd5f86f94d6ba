/**
 * Time and randomness come from outside, so that deciders stay pure and tests choose both. Adapters:
 * libs/infra/src/runtime.
 */
export abstract class Clock {
  /** Wall clock, Unix milliseconds. May jump; never measure a duration with it. */
  abstract nowMs(): number;
  /** Monotonic milliseconds from an arbitrary start. Only differences mean anything, and only in this process. */
  abstract monotonicMs(): number;
}

export abstract class Randomness {
  /** Cryptographically strong random bytes. */
  abstract bytes(length: number): Uint8Array;
}
