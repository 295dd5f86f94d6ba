import { isStoreAway } from './broken-stream.js';
import { START, type EventStore, type Position } from './event-store.port.js';

/**
 * Whether the log holds an event at a position. At a position that a process has read up to it must hold one, unless
 * the log was set back to an earlier state and now ends before that position.
 * @throws {StoreUnavailable} when the store gives no answer
 */
export const standsInLog = async (store: Pick<EventStore, 'readAll'>, position: Position): Promise<boolean> => {
  if (position === START) return true;
  try {
    const [event] = await store.readAll(position - 1n, 1);
    return event?.position === position;
  } catch (error) {
    if (isStoreAway(error)) throw error;
    // KurrentDB rejects a read from a position that it never gave to an event.
    return false;
  }
};
