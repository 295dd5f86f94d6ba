import { digestOf } from '#libs/crypto';
import { type RecordedEvent, StoreUnavailable } from './event-store.port.js';
import type { Payload } from './payload.js';

/**
 * The log does not hold what it must, and nothing that comes later will mend that. Callers who need the stream have no
 * answer. Whoever works for many organizations leaves the organization of this stream aside.
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

/** An event is not as it was written. The message repeats nothing of it. */
export class DamagedEvent extends BrokenStream {
  constructor({ stream, revision, type }: RecordedEvent) {
    super(
      `${stream} holds at revision ${revision} an event (${type}) that cannot be read: it was damaged or altered. Restore ` +
        'the log as it was; `npm run ags -- audit` says what else is wrong with it',
    );
  }
}

/** What an event names by its digest is not stored beside the log as it was written. The message repeats nothing of it. */
export class DamagedPayload extends BrokenStream {
  constructor({ owner, kind, digest }: Omit<Payload, 'org' | 'body'>) {
    super(
      `the ${kind} of ${owner} that is stored beside the log is not the one that the log names (${digest}): it was ` +
        'damaged or altered. Restore its row as it was; `npm run ags -- audit` says which others are',
    );
  }
}

/** @throws {DamagedPayload} the body is another than the one that was asked for */
export const requireUndamaged = (payload: Omit<Payload, 'org'>): void => {
  if (digestOf(payload.body) !== payload.digest) throw new DamagedPayload(payload);
};

/** The store gave no answer: it is everybody's trouble, and passes. */
export const isStoreAway = (error: unknown): error is StoreUnavailable =>
  error instanceof StoreUnavailable && !(error instanceof BrokenStream);

/**
 * Checks a stream before it is folded: nobody may change what is decided by removing an event or by cutting the stream.
 *
 * @param from the revision of the first of these events
 * @throws {MissingEvent} one of them is not there
 */
export const requireGapless = (events: readonly RecordedEvent[], from: number): void => {
  events.forEach(({ stream, revision }, index) => {
    if (revision !== from + index) throw new MissingEvent(stream, from + index);
  });
};
