import { afterEach, describe, expect, it, vi } from 'vitest';
import { EventStore, placeFailpoints, StoreUnavailable, type Append, type Failpoint } from '#libs/domain/kernel';
import { EventStoreWithFailpoints } from './event-store-with-failpoints.js';
import { MemoryEventStore } from './memory/memory-event-store.js';

/** The abilities of a store, each a getter of the port. */
const ABILITIES = Object.entries(Object.getOwnPropertyDescriptors(EventStore.prototype)).flatMap(([name, { get }]) =>
  get === undefined ? [] : [name as keyof EventStore],
);

class AbleStore extends MemoryEventStore {}
for (const name of ABILITIES) Object.defineProperty(AbleStore.prototype, name, { get: () => true });

/**
 * The members that the port implements by default: the wrapper must override each, or it would hide the wrapped
 * store's.
 */
const DEFAULTS = Object.getOwnPropertyNames(EventStore.prototype).filter((name) => name !== 'constructor');

const append: Append = {
  stream: 'org-org_1',
  expectedRevision: 'no_stream',
  events: [{ id: '00000000-0000-8000-8000-000000000001', type: 'ActionSubmitted', data: '{}', metadata: '{}' }],
};

/** Holds every append at a failpoint until the returned function is called. */
const heldAt = (held: Failpoint): (() => void) => {
  let letGo = (): void => undefined;
  const over = new Promise<void>((resolve) => (letGo = resolve));
  placeFailpoints({
    isArmed: (name) => name === held,
    hit: (name) => (name === held ? over : Promise.resolve()),
  });
  return letGo;
};

describe('a store whose appends meet failpoints', () => {
  afterEach(() => placeFailpoints(null));

  it.each(['gate.t1', 'gate.t1.ack'] as const)(
    'reports no answer at its deadline if an append is held at %s, and the append is written late',
    async (point) => {
      const letGo = heldAt(point);
      const real = new MemoryEventStore();
      const store = new EventStoreWithFailpoints(real, 20);
      await expect(store.append(append)).rejects.toThrow(StoreUnavailable);
      expect(await real.readStream(append.stream)).toHaveLength(point === 'gate.t1' ? 0 : 1);
      letGo();
      await vi.waitFor(async () => expect(await real.readStream(append.stream)).toHaveLength(1), { timeout: 20_000 });
    },
  );

  it.each(DEFAULTS)('passes %s on to the wrapped store', (name) => {
    expect(Object.hasOwn(EventStoreWithFailpoints.prototype, name)).toBe(true);
  });

  it.each(ABILITIES)('has the ability of the wrapped store: %s', (name) => {
    expect(new EventStoreWithFailpoints(new AbleStore())[name]).toBe(true);
  });
});
