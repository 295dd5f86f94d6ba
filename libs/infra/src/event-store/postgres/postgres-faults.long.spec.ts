import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RecordedEvent, START, StoreUnavailable } from '#libs/domain/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { firstOf, newEvent, newEvents, newStream } from '../../../../../test/support/new-event.js';
import { startTcpProxy, type TcpProxy } from '../../../../../test/support/tcp-proxy.js';
import { LogHasHole } from '../index.js';
import { PostgresEventStore, type PostgresEventStoreOptions } from './postgres-event-store.js';

const PATIENCE = { timeout: 20_000, interval: 20 };

describe('the PostgreSQL event store', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let side: pg.Client;
  const stores: PostgresEventStore[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await startTcpProxy(database.connectionString);
    side = new pg.Client({ connectionString: database.connectionString });
    await side.connect();
  });
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await side.end();
    await proxy.close();
    await database.drop();
  });

  const open = (options: Partial<PostgresEventStoreOptions> = {}): PostgresEventStore => {
    const store = new PostgresEventStore({
      connectionString: proxy.through(database.connectionString),
      applicationName: 'faults',
      onConnectionLost: () => undefined,
      ...options,
    });
    stores.push(store);
    return store;
  };
  const rows = async (): Promise<readonly { position: string; stream: string; id: string }[]> =>
    (await side.query('select position, stream, id from event_store.events order by position')).rows as never;
  const positionsAreGapless = async (): Promise<boolean> =>
    (await rows()).every(({ position }, index) => position === String(index));

  it('writes one event when the answer to its commit is lost', async () => {
    const store = open();
    await store.append(firstOf(newStream()));
    const append = firstOf(newStream(), 2);
    const cut = proxy.cutNextAnswer();
    const result = await store.append(append);
    await cut;
    expect(result).toEqual({ revision: 1, position: 2n });
    expect((await rows()).slice(1).map(({ id }) => id)).toEqual(append.events.map(({ id }) => id));
  });

  it('answers each append of a batch whose answer is lost', async () => {
    const store = open();
    const taken = newStream();
    await store.append(firstOf(taken));
    const appends = Array.from({ length: 5 }, () => firstOf(newStream()));
    const cut = proxy.cutNextAnswer();
    const results = await Promise.allSettled([
      ...appends.map((append) => store.append(append)),
      store.append(firstOf(taken)),
    ]);
    await cut;
    expect(results.slice(0, 5)).toMatchObject(appends.map(() => ({ status: 'fulfilled', value: { revision: 0 } })));
    expect(results[5]).toMatchObject({ status: 'rejected', reason: { name: 'RevisionConflict', actual: 0 } });
    expect(await rows()).toHaveLength(6);
  });

  it('tries another connection when the server falls silent', async () => {
    const store = open({ deadlineMs: 4_000 });
    await store.append(firstOf(newStream()));
    proxy.swallowAnswers();
    expect(await store.append(firstOf(newStream()))).toEqual({ revision: 0, position: 1n });
    expect(await rows()).toHaveLength(2);
  });

  it('writes every event once while its connections are ended over and over', { timeout: 120_000 }, async () => {
    const store = open();
    const streams = Array.from({ length: 8 }, newStream);
    let kills = 0;
    let killing: Promise<unknown> = Promise.resolve();
    let answered = 0;
    const killNowAndThen = (): void => {
      answered += 1;
      if (answered % 10 !== 0) return;
      kills += 1;
      killing = killing.then(() =>
        side.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'faults%'`),
      );
    };
    await Promise.all(
      streams.map(async (stream) => {
        for (let revision = 0; revision < 100; revision += 1) {
          const expectedRevision = revision === 0 ? 'no_stream' : revision - 1;
          const result = await store.append({ stream, expectedRevision, events: newEvents(1) });
          expect(result.revision).toBe(revision);
          killNowAndThen();
        }
      }),
    );
    await killing;
    expect(kills).toBe(80);
    expect(await rows()).toHaveLength(800);
    expect(await positionsAreGapless()).toBe(true);
  });

  it('reports a missing server within its deadline, and works again once the server is back', async () => {
    const store = open({ deadlineMs: 300 });
    const append = firstOf(newStream());
    proxy.interrupt();
    const startedAt = performance.now();
    const results = await Promise.allSettled([
      store.append(append),
      store.readAll(START, 1),
      store.heads(['a-b']),
      store.head(),
      store.storeId(),
    ]);
    for (const result of results) expect(result).toMatchObject({ reason: expect.any(StoreUnavailable) as unknown });
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    proxy.resume();
    // Waits until a new connection is made.
    expect(await vi.waitFor(() => store.append(append), PATIENCE)).toEqual({ revision: 0, position: 0n });
    expect(await vi.waitFor(() => store.heads([append.stream]), PATIENCE)).toEqual(new Map([[append.stream, 0]]));
  });

  it('lets an append be repeated safely if its deadline passed while another process held the lock', async () => {
    const store = open({ deadlineMs: 300 });
    const append = firstOf(newStream());
    await side.query('select pg_advisory_lock(4701)');
    await expect(store.append(append)).rejects.toBeInstanceOf(StoreUnavailable);
    await side.query('select pg_advisory_unlock(4701)');
    const result = await vi.waitFor(() => store.append(append), PATIENCE);
    expect(await vi.waitFor(() => store.append(append), PATIENCE)).toEqual(result);
    expect(await rows()).toHaveLength(1);
  });

  it('writes the other appends of a batch if the database refuses one of them', async () => {
    await side.query(`alter table event_store.events add check (type <> 'Poison')`);
    const store = open();
    const spoiled = { ...firstOf(newStream()), events: [newEvent(), newEvent({ type: 'Poison' })] };
    const results = await Promise.allSettled([
      store.append(firstOf(newStream())),
      store.append(spoiled),
      store.append(firstOf(newStream())),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: '23514' } });
    expect(await rows()).toHaveLength(2);
    expect(await positionsAreGapless()).toBe(true);
  });

  it('shares a commit between the appends that wait at the same moment', async () => {
    const store = open();
    await Promise.all(Array.from({ length: 200 }, () => store.append(firstOf(newStream()))));
    const { rows: commits } = await side.query('select distinct xmin::text from event_store.events');
    expect(commits.length).toBeLessThanOrEqual(2);
    expect(await positionsAreGapless()).toBe(true);
  });

  it('keeps positions without gaps through conflicts', async () => {
    const store = open();
    const streams = Array.from({ length: 5 }, newStream);
    for (let round = 0; round < 20; round += 1) {
      await Promise.allSettled(streams.map((stream) => store.append(firstOf(stream, 2))));
      await store.append(firstOf(newStream()));
    }
    expect(await rows()).toHaveLength(5 * 2 + 20);
    expect(await positionsAreGapless()).toBe(true);
  });

  it('never appends on an old snapshot', async () => {
    await side.query('begin isolation level repeatable read');
    const refused = side.query(
      `select event_store.append('{s-1}', '{-1}', '{s-1}', '{0}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`,
    );
    await expect(refused).rejects.toMatchObject({ code: '25000' });
    await side.query('rollback');
    await side.query(
      `do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$`,
    );
    expect(await open().append(firstOf(newStream()))).toEqual({ revision: 0, position: 0n });
  });

  it('delivers no event after a hole in the log, and reports where the hole is', async () => {
    await open().append(firstOf(newStream(), 5));
    const kept = await side.query('delete from event_store.events where position = 2 returning *');
    const seen: RecordedEvent[] = [];
    const onError = vi.fn();
    const onEvents = (batch: readonly RecordedEvent[]): Promise<void> => Promise.resolve(void seen.push(...batch));
    // A store of another process: the one that appended the events would not read them.
    const store = open({ pollIntervalMs: 10 });
    const subscription = store.subscribeToAll({ after: START, batchSize: 2, onEvents, onError });
    await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(2), PATIENCE);
    expect(onError.mock.calls[0]?.[0]).toBeInstanceOf(LogHasHole);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ missing: 2n, found: 3n });
    expect([seen.length, subscription.position]).toEqual([2, 1n]);
    const [row] = kept.rows as [Record<string, unknown>];
    await side.query('insert into event_store.events values ($1, $2, $3, $4, $5, $6, $7)', Object.values(row));
    await vi.waitFor(() => expect(subscription.position).toBe(4n), { timeout: 5_000 });
    await subscription.close();
  });

  it('delivers an append of this process to its subscriptions at once, however rarely they poll', async () => {
    const store = open({ pollIntervalMs: 60_000 });
    const seen: RecordedEvent[] = [];
    const onEvents = (batch: readonly RecordedEvent[]): Promise<void> => Promise.resolve(void seen.push(...batch));
    const subscription = store.subscribeToAll({ after: START, onEvents, onError: () => undefined });
    for (let count = 1; count <= 20; count += 1) {
      await store.append(firstOf(newStream()));
      await vi.waitFor(() => expect(seen).toHaveLength(count), PATIENCE);
    }
    await subscription.close();
  });

  it('waits for appends under way when it is closed, and takes no more', async () => {
    const store = open();
    const append = store.append(firstOf(newStream()));
    await store.close();
    stores.length = 0;
    expect(await append).toEqual({ revision: 0, position: 0n });
    await expect(store.append(firstOf(newStream()))).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
