import { isStoreAway, type RecordedEvent } from '../kernel/index.js';

/**
 * An event that names no organization. Nothing after it can be sealed for anybody, because its deed may belong before
 * any other.
 */
export class EventWithoutOrganization extends Error {
  override readonly name = 'EventWithoutOrganization';
  constructor({ stream, revision, type }: RecordedEvent, cause?: unknown) {
    super(
      `${stream} holds at revision ${revision} an event (${type}) that does not say whose it is, so it is none of this ` +
        'service, or was altered. The store is for this service alone: restore the log as it was before',
      { cause },
    );
  }
}

/**
 * An error that was thrown while one organization's events were read, if it affects that organization alone.
 * @throws the error itself, if the store is unavailable and so every organization is affected
 */
export const ownFaultOf = (thrown: unknown): Error => {
  if (isStoreAway(thrown)) throw thrown;
  return thrown instanceof Error ? thrown : new Error(String(thrown));
};
