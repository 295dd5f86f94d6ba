import { EventStoreDBClient } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Append, MissingEvent, StoreUnavailable } from '#libs/domain/kernel';
import { KURRENT_LOG_UNDER_TEST, startKurrentLog } from '../../../../../test/support/kurrent-log-under-test.js';
import type { KurrentLogUnderTest } from '../../../../../test/support/kurrent-under-test.js';
import { firstOf, newEvents, newStream } from '../../../../../test/support/new-event.js';
import { expectRising, following, idsInLog, SteadyWriters } from '../../../../../test/support/steady-writers.js';
import { LogWentBack } from '../log-went-back.js';
import { KurrentEventStore, type KurrentEventStoreOptions } from './kurrent-event-store.js';

const WRITERS = 32;
const PATIENCE = { timeout: 20_000 };

describe(`an event store that fails: ${KURRENT_LOG_UNDER_TEST}`, () => {
  let server: KurrentLogUnderTest;
  const stores: KurrentEventStore[] = [];

  beforeEach(async () => {
    server = await startKurrentLog();
  }, 60_000);
  afterEach(async () => {
    await server.resume();
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await server.close();
  }, 60_000);

  const open = (options: Partial<KurrentEventStoreOptions> = {}): KurrentEventStore => {
    const store = new KurrentEventStore({ url: server.url, deadlineMs: 30_000, ...options });
    stores.push(store);
    return store;
  };

  it.each(['kill', 'terminate'] as const)(
    'loses and repeats no event of 32 writers after %s, and its subscriptions go on',
    { timeout: 120_000 },
    async (end) => {
      const [store, reader] = [open(), open()];
      const after = await reader.head();
      const { events: seen, subscription } = following(reader, after);
      const writers = new SteadyWriters(store, WRITERS);
      for (let round = 1; round <= 3; round += 1) {
        await writers.go(500);
        await server[end]();
        await server.start();
      }
      const written = await writers.end();
      expect(await idsInLog(reader, after)).toEqual(written);
      await vi.waitFor(() => expect(seen.length).toBe(writers.answered), PATIENCE);
      expectRising(seen);
      await subscription.close();
    },
  );

  it(
    'never answers with an older head than an append has returned, for watched streams',
    { timeout: 60_000 },
    async () => {
      const [writer, asker] = [open(), open({ isLongLived: true })];
      const streams = Array.from({ length: 16 }, newStream);
      await Promise.all(
        streams.map(async (stream, index) => {
          for (let revision = 0; revision < 100; revision += 1) {
            const expectedRevision = revision === 0 ? 'no_stream' : revision - 1;
            await writer.append({ stream, expectedRevision, events: newEvents(1) });
            // Also asks for a stream that another writer appends to at the same time.
            const neighbour = streams[(index + 1) % streams.length] as string;
            const heads = await asker.heads([stream, neighbour]);
            expect(heads.get(stream)).toBe(revision);
          }
        }),
      );
    },
  );

  it('does not take the answer to a repeated append for the head of its stream', async () => {
    const [store, other] = [open(), open({ isLongLived: true })];
    const markers: string[] = [];
    // A subscription does not deliver what was appended before it began, so markers are appended until one arrives.
    await vi.waitFor(async () => {
      const marker = firstOf(newStream());
      markers.push(marker.stream);
      await store.append(marker);
      expect(other.seenHeads(markers).size).toBeGreaterThan(0);
    }, PATIENCE);
    const append = firstOf(newStream());
    await store.append(append);
    await store.append({ stream: append.stream, expectedRevision: 0, events: newEvents(2) });
    await vi.waitFor(() => expect(other.seenHeads([append.stream]).get(append.stream)).toBe(2), PATIENCE);
    expect((await other.append(append)).revision).toBe(0);
    expect(await other.heads([append.stream])).toEqual(new Map([[append.stream, 2]]));
  });

  it('reports a hung server within its deadline, and the append can be repeated safely', async () => {
    const store = open({ deadlineMs: 1_500 });
    await store.append(firstOf(newStream()));
    const append = firstOf(newStream(), 2);
    await server.hang();
    const results = await Promise.allSettled([
      store.append(append),
      store.heads([append.stream]),
      store.head(),
      store.readAll(-1n, 1),
      store.storeId(),
    ]);
    for (const result of results) expect(result).toMatchObject({ reason: expect.any(StoreUnavailable) as unknown });
    await server.resume();
    const patient = open();
    const result = await patient.append(append);
    expect(result.revision).toBe(1);
    expect(await store.append(append)).toEqual(result);
    expect(await store.readStream(append.stream)).toHaveLength(2);
  });

  it('writes all of an append or nothing, whenever its caller gave up', { timeout: 180_000 }, async () => {
    const data = JSON.stringify('x'.repeat(1_500));
    const appendOfMany = (): Append => ({
      ...firstOf(newStream()),
      events: newEvents(500).map((event) => ({ ...event, data })),
    });
    const given = Array.from({ length: 60 }, (_, index) => ({ append: appendOfMany(), deadlineMs: 1 + 2 * index }));
    const patient = open();
    await patient.append(firstOf(newStream()));
    for (const { append, deadlineMs } of given) {
      await open({ deadlineMs })
        .append(append)
        .catch((error: unknown) => expect(error).toBeInstanceOf(StoreUnavailable));
    }
    for (const { append } of given) {
      expect((await patient.append(append)).revision).toBe(499);
      expect(await patient.readStream(append.stream)).toHaveLength(500);
    }
  });

  it('continues its subscription after the server hung', async () => {
    const [store, other] = [open(), open()];
    const { events, subscription } = following(store, await store.head());
    await other.append(firstOf(newStream()));
    await vi.waitFor(() => expect(events).toHaveLength(1), { timeout: 5_000 });
    await server.hang();
    const late = other.append(firstOf(newStream()));
    await expect(open({ deadlineMs: 1_000 }).head()).rejects.toBeInstanceOf(StoreUnavailable);
    await server.resume();
    await late;
    await vi.waitFor(() => expect(events).toHaveLength(2), { timeout: 20_000 });
    await subscription.close();
  });

  describe('a stream that somebody else', () => {
    let operator: EventStoreDBClient;
    let store: KurrentEventStore;
    let stream: string;
    const next = (expectedRevision: number | 'no_stream'): Append => ({
      stream,
      expectedRevision,
      events: newEvents(1),
    });
    beforeEach(async () => {
      operator = EventStoreDBClient.connectionString(server.url);
      store = open();
      stream = newStream();
      for (let revision = 0; revision < 4; revision += 1) {
        await store.append(next(revision === 0 ? 'no_stream' : revision - 1));
      }
    });
    afterEach(() => operator.dispose());

    it.each([
      ['$maxCount', { maxCount: 2 }],
      ['$tb', { truncateBefore: 2 }],
    ])('cut by %s is read with a hole at its front, and is whole once the cut is undone', async (_, cut) => {
      await operator.setStreamMetadata(stream, cut);
      const revisions = async () => (await store.readStream(stream)).map(({ revision }) => revision);
      expect(await revisions()).toEqual([2, 3]);
      expect(await store.heads([stream])).toEqual(new Map([[stream, 3]]));
      await operator.setStreamMetadata(stream, {});
      expect(await revisions()).toEqual([0, 1, 2, 3]);
    });

    it('deleted is not silently begun again by an append', async () => {
      await operator.deleteStream(stream);
      expect(await store.readStream(stream)).toEqual([]);
      const again = store.append(next('no_stream'));
      await expect(again).rejects.toBeInstanceOf(MissingEvent);
      await expect(again).rejects.toThrow(`${stream} holds no event at revision 0, and must.`);
    });

    it('deleted permanently is never taken for a stream that does not exist', async () => {
      await operator.tombstoneStream(stream);
      const [readers, writers] = [[open(), open()], open()];
      for (const ask of [
        () => readers[0]?.readStream(stream),
        () => readers[1]?.heads([stream]),
        () => writers.append(next('no_stream')),
        () => writers.append(next(3)),
      ]) {
        await expect(ask()).rejects.toBeInstanceOf(MissingEvent);
      }
      // The deleted stream holds the last event that this store has seen.
      await server.kill();
      await server.start();
      await expect(store.head()).rejects.toBeInstanceOf(LogWentBack);
    });
  });

  it('ends a process when it went back in time, before that process writes to it', async ({ skip }) => {
    const onWentBack = vi.fn();
    const store = open({ onWentBack });
    await store.append(firstOf(newStream()));
    const putBack = await server.backUp(await store.head());
    if (putBack === null) return skip('somebody else runs the server');
    const { position } = await store.append(firstOf(newStream()));
    await putBack();
    const lost = firstOf(newStream());
    await expect(store.append(lost)).rejects.toBeInstanceOf(LogWentBack);
    expect(onWentBack.mock.calls[0]?.[0]).toMatchObject({
      message: expect.stringContaining(String(position)) as string,
    });
    expect(await open().readStream(lost.stream)).toEqual([]);
  });
});
