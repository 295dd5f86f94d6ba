import { isStoreAway, type RecordedEvent } from '../kernel/index.js';

/** An event that does not say whose it is. Nobody can be sealed past it, for its deed may belong before any other. */
export class NobodysEvent extends Error {
  override readonly name = 'NobodysEvent';
  constructor({ stream, revision, type }: RecordedEvent, cause?: unknown) {
    super(
      `${stream} holds at revision ${revision} an event (${type}) that does not say whose it is, so it is none of this ` +
        'service, or was altered. The store is for this service alone: restore the log as it was before',
      { cause },
    );
  }
}

/**
 * What was thrown while one organization's events were read, as that organization's own trouble.
 * @throws what was thrown, where it is everybody's trouble
 */
export const ownFaultOf = (thrown: unknown): Error => {
  if (isStoreAway(thrown)) throw thrown;
  return thrown instanceof Error ? thrown : new Error(String(thrown));
};
