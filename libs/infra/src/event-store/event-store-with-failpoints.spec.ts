import { describe, expect, it } from 'vitest';
import { EventStore } from '#libs/domain/kernel';
import { EventStoreWithFailpoints } from './event-store-with-failpoints.js';
import { MemoryEventStore } from './memory/memory-event-store.js';

/** What a store says it can do, each a getter of the port. */
const ABILITIES = Object.entries(Object.getOwnPropertyDescriptors(EventStore.prototype)).flatMap(([name, { get }]) =>
  get === undefined ? [] : [name as keyof EventStore],
);

class AbleStore extends MemoryEventStore {}
for (const name of ABILITIES) Object.defineProperty(AbleStore.prototype, name, { get: () => true });

/** What the port does by itself where a store does not say otherwise. */
const DEFAULTS = Object.getOwnPropertyNames(EventStore.prototype).filter((name) => name !== 'constructor');

describe('a store whose appends meet failpoints', () => {
  it.each(DEFAULTS)('leaves it to the one behind it: %s', (name) => {
    expect(Object.hasOwn(EventStoreWithFailpoints.prototype, name)).toBe(true);
  });

  it.each(ABILITIES)('can do what the one behind it can: %s', (name) => {
    expect(new EventStoreWithFailpoints(new AbleStore())[name]).toBe(true);
  });
});
