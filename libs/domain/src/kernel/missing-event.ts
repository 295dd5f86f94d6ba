import { type RecordedEvent, StoreUnavailable } from './event-store.port.js';

/**
 * The log lacks an event that it must hold: nothing that comes later will mend that. Callers who need it have no answer;
 * whoever works for many organizations leaves this one aside.
 */
export class MissingEvent extends StoreUnavailable {
  constructor(stream: string, revision: number) {
    super(
      `${stream} holds no event at revision ${revision}, and must. Undo what cut or deleted the stream, or restore the ` +
        'log; `npm run ags -- audit` says what else is missing',
    );
  }
}

/**
 * Before a stream is folded: whoever removed an event, or cut the stream, must not thereby change what is decided.
 *
 * @param from the revision of the first of these events
 * @throws {MissingEvent} one of them is not there
 */
export const requireGapless = (events: readonly RecordedEvent[], from: number): void => {
  events.forEach(({ stream, revision }, index) => {
    if (revision !== from + index) throw new MissingEvent(stream, from + index);
  });
};
