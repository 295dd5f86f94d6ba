import { MissingEvent, StoreUnavailable } from '../kernel/index.js';

/** The store gave no answer: it is everybody's trouble, and passes. */
export const isStoreAway = (error: unknown): boolean =>
  error instanceof StoreUnavailable && !(error instanceof MissingEvent);

/**
 * Of what was thrown while one organization's events were read: its own trouble.
 * @throws what was thrown, where that is everybody's
 */
export const ownFaultOf = (thrown: unknown): Error => {
  if (isStoreAway(thrown)) throw thrown;
  return thrown instanceof Error ? thrown : new Error(String(thrown));
};
