import type { EventStore, Position } from '../kernel/index.js';
import type { LowWater } from './sealing.ports.js';

/**
 * Up to where a low-water says that everything is sealed or parked. Null where it is void: it is of another store, or
 * of a log that was lost, so that another event, or none, stands there now.
 */
export const standingLowWater = async (
  store: Pick<EventStore, 'storeId' | 'readStream'>,
  lowWater: LowWater | null,
): Promise<Position | null> => {
  if (lowWater === null || lowWater.storeId !== (await store.storeId())) return null;
  const { stream, revision, event_id: id } = lowWater.event;
  const [event] = await store.readStream(stream, { from: revision, limit: 1 });
  return event?.position === lowWater.position && event.id === id ? lowWater.position : null;
};
