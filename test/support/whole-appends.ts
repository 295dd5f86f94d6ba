import type { EventStore } from '#libs/domain/kernel';
import { eventsOfOneCommand, newStream } from './new-event.js';

export const WHOLE_APPENDS = 100;
export const EVENTS_OF_APPEND = 7;

/** One after the other, into a stream that is not there. */
export const writeWholeAppends = async (store: EventStore, stream = newStream()): Promise<void> => {
  for (let count = 0; count < WHOLE_APPENDS; count += 1) {
    const expectedRevision = count === 0 ? 'no_stream' : count * EVENTS_OF_APPEND - 1;
    await store.append({ stream, expectedRevision, events: eventsOfOneCommand(EVENTS_OF_APPEND) });
  }
};
