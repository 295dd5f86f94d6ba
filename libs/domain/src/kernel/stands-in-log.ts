import { isStoreAway } from './broken-stream.js';
import { START, type EventStore, type Position } from './event-store.port.js';

/**
 * Whether an event stands at a position. One must stand wherever somebody has read up to, unless the log went back in
 * time: then it may end before.
 * @throws {StoreUnavailable}
 */
export const standsInLog = async (store: Pick<EventStore, 'readAll'>, position: Position): Promise<boolean> => {
  if (position === START) return true;
  try {
    const [event] = await store.readAll(position - 1n, 1);
    return event?.position === position;
  } catch (error) {
    if (isStoreAway(error)) throw error;
    // KurrentDB: it reads from positions of its own alone.
    return false;
  }
};
