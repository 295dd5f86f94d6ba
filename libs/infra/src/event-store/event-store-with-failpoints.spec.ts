import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { placeFailpoints, StoreUnavailable, type Append, type Failpoint } from '#libs/domain/kernel';
import { EventStoreWithFailpoints } from './event-store-with-failpoints.js';
import { MemoryEventStore } from './memory/memory-event-store.js';

let written: MemoryEventStore;
let store: EventStoreWithFailpoints;
beforeEach(() => {
  written = new MemoryEventStore();
  store = new EventStoreWithFailpoints(written);
});
afterEach(() => placeFailpoints(null));

const failAt = (failing: Failpoint): void =>
  placeFailpoints({
    isArmed: (name) => name === failing,
    hit: (name) => (name === failing ? Promise.reject(new StoreUnavailable(name)) : Promise.resolve()),
  });

const appendOf = (type: string): Append => ({
  stream: 'some-stream',
  expectedRevision: 'no_stream',
  events: [
    { id: '00000000-0000-4000-8000-000000000001', type, data: '{}', metadata: '{}' },
    { id: '00000000-0000-4000-8000-000000000002', type: 'Another', data: '{}', metadata: '{}' },
  ],
});

describe.each([
  ['ActionSubmitted', 'gate.t1', 'gate.t1.ack'],
  ['ExecutionStarted', 'exec.t3', 'exec.t3.ack'],
  ['ExecutionFinished', 'exec.t4', 'exec.t4.ack'],
  ['DeedSealed', 'seal.signed', 'seal.ack'],
] as const)('an append that begins with %s', (type, before, answered) => {
  it(`writes nothing when ${before} fails`, async () => {
    failAt(before);
    await expect(store.append(appendOf(type))).rejects.toThrow(StoreUnavailable);
    expect(await written.readStream('some-stream')).toHaveLength(0);
  });

  it(`is written and unanswered when ${answered} fails, and answered when it comes again`, async () => {
    failAt(answered);
    await expect(store.append(appendOf(type))).rejects.toThrow(StoreUnavailable);
    expect(await written.readStream('some-stream')).toHaveLength(2);
    placeFailpoints(null);
    expect(await store.append(appendOf(type))).toMatchObject({ revision: 1 });
  });
});

describe('every other append', () => {
  it('meets no failpoint', async () => {
    placeFailpoints({ isArmed: () => true, hit: (name) => Promise.reject(new StoreUnavailable(name)) });
    expect(await store.append(appendOf('PolicyCreated'))).toMatchObject({ revision: 1 });
  });
});
