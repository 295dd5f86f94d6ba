import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { startTcpProxy } from '../../../../test/support/tcp-proxy.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { createDurablePool, createRelaxedPool, ensureDatabase, isPassing, type PoolOptions } from './index.js';

describe('pools', () => {
  let database: TestDatabase;
  const pools: pg.Pool[] = [];
  const onError = vi.fn();
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
    onError.mockClear();
  });
  afterAll(() => database.drop());

  const open = (create: (options: PoolOptions) => pg.Pool, options: Partial<PoolOptions> = {}): pg.Pool => {
    const { connectionString } = database;
    const pool = create({ connectionString, applicationName: 'a spec', maxConnections: 2, onError, ...options });
    pools.push(pool);
    return pool;
  };
  const show = async (pool: pg.Pool, setting: string): Promise<unknown> =>
    (await pool.query<Record<string, unknown>>(`show ${setting}`)).rows[0]?.[setting];

  it('commit durably for events, whatever the settings of the database', async () => {
    const durable = open(createDurablePool);
    await durable.query(
      `do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`,
    );
    const later = open(createDurablePool);
    expect(await show(later, 'synchronous_commit')).toBe('on');
    expect(await show(later, 'default_transaction_isolation')).toBe('read committed');
    expect(await show(later, 'application_name')).toBe('a spec');
  });

  it('commit without waiting for the disk if they are relaxed', async () => {
    expect(await show(open(createRelaxedPool), 'synchronous_commit')).toBe('off');
  });

  it('close all but one of the connections that a burst has opened', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const pool = open(createDurablePool, { maxConnections: 3 });
      await Promise.all([1, 2, 3].map(() => pool.query('select 1')));
      expect(pool.idleCount).toBe(3);
      vi.advanceTimersByTime(5_000);
      expect(pool.totalCount).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('survive the loss of an idle connection', async () => {
    const pool = open(createDurablePool);
    const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
    await open(createRelaxedPool).query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(1), { timeout: 20_000 });
    expect((await pool.query('select 7 as value')).rows).toEqual([{ value: 7 }]);
  });

  it('survive the loss of a connection during its check before first use', async () => {
    const proxy = await startTcpProxy(database.connectionString);
    const pool = open(createDurablePool, {
      connectionString: proxy.through(database.connectionString),
      verify: async (connection) => {
        const cut = proxy.cutNextAnswer();
        await Promise.all([cut, connection.query('select 1')]);
      },
    });
    await expect(pool.query('select 7')).rejects.toThrow('Connection terminated');
    await proxy.close();
  });

  it('end statements that take too long', async () => {
    const pool = open(createDurablePool, { statementTimeoutMs: 50 });
    const failure: unknown = await pool.query('select pg_sleep(10)').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: '57014' });
    expect(isPassing(failure)).toBe(true);
  });
});

describe('ensureDatabase', () => {
  it('creates a missing database once, whatever its name and however many processes do so', async () => {
    const existing = await createTestDatabase();
    const address = new URL(existing.connectionString);
    address.pathname = `/${encodeURIComponent(`Ensured "${process.pid}" é`)}`;
    const created = await Promise.all([1, 2, 3].map(() => ensureDatabase(address.href, silentLogger)));
    expect(created.filter((isCreated) => isCreated)).toHaveLength(1);
    expect(await ensureDatabase(address.href, silentLogger)).toBe(false);
    const pool = createDurablePool({
      connectionString: address.href,
      applicationName: 'a spec',
      maxConnections: 1,
      onError: () => undefined,
    });
    const { rows } = await pool.query('select current_database() as name, getdatabaseencoding() as encoding');
    expect(rows).toEqual([{ name: `Ensured "${process.pid}" é`, encoding: 'UTF8' }]);
    await pool.end();
    await existing.drop();
  });

  it('waits for a server that says it is starting', async () => {
    const existing = await createTestDatabase();
    const { port, hostname } = new URL(existing.connectionString);
    let refusals = 0;
    const starting = createServer((socket) => {
      if (refusals < 2) {
        refusals += 1;
        return void socket.once('data', () => socket.end(IS_STARTING));
      }
      const server = connect(Number(port), hostname);
      socket.pipe(server).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(starting, 'listening');
    const address = new URL(existing.connectionString);
    address.port = String((starting.address() as AddressInfo).port);
    const warn = vi.fn();
    expect(await ensureDatabase(address.href, { debug: vi.fn(), info: vi.fn(), warn, error: vi.fn() })).toBe(false);
    expect(refusals).toBe(2);
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('starting'), expect.anything());
    starting.close();
    await existing.drop();
  });
});

const REFUSAL = 'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0';
/** PostgreSQL's ErrorResponse (its manual, 'Message Formats'): the letter, the length with itself, the fields. */
const IS_STARTING = Buffer.concat([Buffer.from([0x45, 0, 0, 0, REFUSAL.length + 4]), Buffer.from(REFUSAL)]);
