import { afterEach, describe, expect, it, vi } from 'vitest';
import { placeFailpoints, RequirementMoved, StoreUnavailable, type Append, type Failpoint } from '#libs/domain/kernel';
import { heldBesideLog } from '../../../../test/support/payloads-beside-log.js';
import { firstOf, newStream } from '../../../../test/support/new-event.js';
import { EventStoreWithFailpoints, TransactionalStoreWithFailpoints } from './event-store-with-failpoints.js';
import { TransactionalAppends } from './transactional-appends.js';
import { MemoryEventStore } from './memory/memory-event-store.js';

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

  it('is asked for no companions while a failpoint of sealing is armed, and for some otherwise', async () => {
    const store = new TransactionalStoreWithFailpoints(new MemoryEventStore());
    const accompany = vi.fn(() => null);
    store.accompany(accompany, () => undefined);
    placeFailpoints({ isArmed: (name) => name === 'seal.signed', hit: () => Promise.resolve() });
    await store.append(firstOf(newStream()));
    expect(accompany).not.toHaveBeenCalled();
    placeFailpoints(null);
    await store.append(firstOf(newStream()));
    expect(accompany).toHaveBeenCalledOnce();
  });

  it('holds what belongs to an append in its commit, as the wrapped store does', async () => {
    const store = new TransactionalStoreWithFailpoints(new MemoryEventStore());
    const requires = new Map([[newStream(), 0]]);
    const appends = new TransactionalAppends(store, heldBesideLog());
    await expect(appends.append(firstOf(newStream()), { requires })).rejects.toBeInstanceOf(RequirementMoved);
  });
});
