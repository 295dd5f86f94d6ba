import { digestOf } from '#libs/crypto';
import { type RecordedEvent, StoreUnavailable } from './event-store.port.js';
import type { Payload } from './payload.js';

/**
 * A stream, or a payload that it names, is damaged or incomplete, and a retry cannot mend that. A call that needs the
 * stream fails. A job that works for many organizations skips the organization of this stream and goes on with the
 * others.
 */
export abstract class BrokenStream extends StoreUnavailable {}

export class MissingEvent extends BrokenStream {
  constructor(stream: string, revision: number) {
    super(
      `${stream} holds no event at revision ${revision}, and must. Undo what cut or deleted the stream, or restore the ` +
        'log; `npm run ags -- audit` says what else is missing',
    );
  }
}

/** An event is not as it was written. The error message quotes nothing of its content. */
export class DamagedEvent extends BrokenStream {
  constructor({ stream, revision, type }: RecordedEvent) {
    super(
      `${stream} holds at revision ${revision} an event (${type}) that cannot be read: it was damaged or altered. Restore ` +
        'the log as it was; `npm run ags -- audit` says what else is wrong with it',
    );
  }
}

/**
 * The payload that an event names by its digest is stored beside the log with another content. The error message quotes
 * nothing of it.
 */
export class DamagedPayload extends BrokenStream {
  constructor({ owner, kind, digest }: Omit<Payload, 'org' | 'body'>) {
    super(
      `the ${kind} of ${owner} that is stored beside the log is not the one that the log names (${digest}): it was ` +
        'damaged or altered. Restore its row as it was; `npm run ags -- audit` says which others are',
    );
  }
}

/** @throws {DamagedPayload} when the body does not have the digest that the payload is stored under */
export const requireUndamaged = (payload: Omit<Payload, 'org'>): void => {
  if (digestOf(payload.body) !== payload.digest) throw new DamagedPayload(payload);
};

/** Whether the store gave no answer. Such a failure affects every stream and passes, unlike a {@link BrokenStream}. */
export const isStoreAway = (error: unknown): error is StoreUnavailable =>
  error instanceof StoreUnavailable && !(error instanceof BrokenStream);

/**
 * Checks, before a stream is folded, that its revisions have no gap. Otherwise somebody could change a decision by
 * removing an event from the stream.
 *
 * @param from the revision of the first of these events
 * @throws {MissingEvent} when one of the revisions is missing
 */
export const requireGapless = (events: readonly RecordedEvent[], from: number): void => {
  events.forEach(({ stream, revision }, index) => {
    if (revision !== from + index) throw new MissingEvent(stream, from + index);
  });
};
