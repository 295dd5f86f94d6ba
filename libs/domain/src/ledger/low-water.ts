import type { EventStore, Position } from '../kernel/index.js';
import type { LowWater } from './sealing.ports.js';

/**
 * The position up to which a low-water says that everything is sealed or parked. Null if the low-water is void: it
 * belongs to another store, or to a log that was lost, so that its position now has another event or none.
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
