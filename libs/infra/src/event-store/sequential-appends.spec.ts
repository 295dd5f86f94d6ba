import { describe, expect, it, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import { RequirementMoved, type Payload } from '#libs/domain/kernel';
import { compoundAppendsContract } from '../../../../test/contracts/compound-appends.contract.js';
import { heldBesideLog } from '../../../../test/support/payloads-beside-log.js';
import { firstOf, newStream } from '../../../../test/support/new-event.js';
import { MemoryEventStore } from './memory/memory-event-store.js';
import { SequentialAppends } from './sequential-appends.js';

compoundAppendsContract('one after the other', () => {
  const [store, payloads] = [new MemoryEventStore(), heldBesideLog()];
  const client = { store, appends: new SequentialAppends(store, payloads), storedBody: payloads.storedBody };
  return Promise.resolve({ open: () => Promise.resolve(client), close: () => Promise.resolve() });
});

const body = '{}';
const payload: Payload = { owner: 'act_1', org: 'org_1', kind: 'result', digest: digestOf(body), body };

describe('an append whose parts are written one after the other', () => {
  it('leaves the events unwritten if the payload could not be stored', async () => {
    const store = new MemoryEventStore();
    const put = vi.fn().mockRejectedValue(new Error('the disk is full'));
    const append = firstOf(newStream());
    await expect(new SequentialAppends(store, { put }).append(append, { payload })).rejects.toThrow('disk');
    expect(await store.readStream(append.stream)).toEqual([]);
  });

  it('asks where the required streams stand when everything else is done but the append', async () => {
    const store = new MemoryEventStore();
    const required = firstOf(newStream());
    await store.append(required);
    const move = { stream: required.stream, expectedRevision: 0, events: firstOf(newStream()).events };
    const put = (): Promise<void> => store.append(move).then(() => undefined);
    const append = firstOf(newStream());
    const requires = new Map([[required.stream, 0]]);
    const appended = new SequentialAppends(store, { put }).append(append, { payload, requires });
    await expect(appended).rejects.toBeInstanceOf(RequirementMoved);
    expect(await store.readStream(append.stream)).toEqual([]);
  });

  it('asks nothing if it requires nothing', async () => {
    const store = new MemoryEventStore();
    const heads = vi.spyOn(store, 'heads');
    const appends = new SequentialAppends(store, heldBesideLog());
    await appends.append(firstOf(newStream()), { payload, requires: new Map() });
    await appends.append(firstOf(newStream()), { requires: null });
    expect(heads).not.toHaveBeenCalled();
  });
});
