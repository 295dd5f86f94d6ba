import type { EventStore, Position } from '#libs/domain/kernel';
import { vi } from 'vitest';

/** From now on the store reads its log as if somebody had deleted the event at a position. */
export const withoutEventAt = (store: EventStore, missing: Position): void => {
  const readAll = store.readAll.bind(store);
  vi.spyOn(store, 'readAll').mockImplementation(async (after, limit) => {
    const events = await readAll(after, limit + 1);
    return events.filter(({ position }) => position !== missing).slice(0, limit);
  });
};
