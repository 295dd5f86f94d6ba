import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { startTcpProxy } from '../../../../test/support/tcp-proxy.js';
import { PostgresLeases, type PostgresLeasesOptions } from './postgres-leases.js';

const PATIENT = { timeout: 30_000, interval: 20 };
/**
 * Slow enough that several readings fall within the limit, so that none of them looks like a pause of the waiting
 * process.
 */
const TIMES_FASTER = 3;
const fastClock = { monotonicMs: () => performance.now() * TIMES_FASTER };

let database: TestDatabase;
let waiting: AbortController;
let background: Promise<void>;
let errors: unknown[];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => {
  waiting = new AbortController();
  background = Promise.resolve();
  errors = [];
});
afterEach(async () => {
  waiting.abort();
  await background;
});

/** Holds the lease until the test ends. Resolves when it is taken. */
const hold = (options: PostgresLeasesOptions = {}): Promise<void> =>
  new Promise((resolve) => {
    const leases = new PostgresLeases(database.connectionString, options);
    const work = async (held: AbortSignal): Promise<void> => {
      resolve();
      await new Promise<void>((lost) => held.addEventListener('abort', () => lost(), { once: true }));
    };
    background = leases.hold('sealer', waiting.signal, work, (error) => errors.push(error));
  });

describe('a lease', () => {
  it('has one holder at a time', async () => {
    const leases = new PostgresLeases(database.connectionString);
    const lease = await leases.tryTake('sealer');
    expect(await leases.tryTake('sealer')).toBeNull();
    const other = await leases.tryTake('other');
    expect(other).not.toBeNull();
    await other?.release();
    await lease?.release();
    await hold();
  });

  it('is taken from a frozen process that keeps its connection (F-02)', async () => {
    // A frozen process leaves such a session: it holds the lock and sends nothing.
    const frozen = new pg.Client({ connectionString: database.connectionString });
    const ended = vi.fn();
    frozen.on('error', ended);
    await frozen.connect();
    await frozen.query(`select pg_advisory_lock(hashtextextended('lease:sealer', 0))`);
    await hold({ clock: fastClock });
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('stands still') as string })]);
    await vi.waitFor(() => expect(ended).toHaveBeenCalled(), PATIENT);
  });

  it('is given up when the database stops answering, and taken again when it answers (F-10)', async () => {
    const proxy = await startTcpProxy(database.connectionString);
    const terms: AbortSignal[] = [];
    const work = async (held: AbortSignal): Promise<void> => {
      terms.push(held);
      await new Promise<void>((lost) => held.addEventListener('abort', () => lost(), { once: true }));
    };
    const leases = new PostgresLeases(proxy.through(database.connectionString));
    background = leases.hold('sealer', waiting.signal, work, (error) => errors.push(error));
    await vi.waitFor(() => expect(terms).toHaveLength(1), PATIENT);
    proxy.hang();
    // A new connection gets no answer either.
    await vi.waitFor(() => expect([terms[0]?.aborted, errors.length > 0]).toEqual([true, true]), PATIENT);
    proxy.resume();
    await vi.waitFor(() => expect(terms).toHaveLength(2), PATIENT);
    expect(terms[1]?.aborted).toBe(false);
    waiting.abort();
    await background;
    await proxy.close();
  });

  it('is taken over from a holder that is cut off from the database and has ended its work by then', async () => {
    const proxy = await startTcpProxy(database.connectionString);
    const cutOff = await new PostgresLeases(proxy.through(database.connectionString)).tryTake('sealer');
    proxy.part();
    let hadEnded: boolean | undefined;
    const work = (): Promise<void> => {
      hadEnded = cutOff?.lost.aborted;
      waiting.abort();
      return Promise.resolve();
    };
    await new PostgresLeases(database.connectionString).hold('sealer', waiting.signal, work, (error) =>
      errors.push(error),
    );
    expect(hadEnded).toBe(true);
    await cutOff?.release();
    await proxy.close();
  });

  it('has a session that writes nothing more once the lease was taken away (F-02)', async () => {
    const lease = await new PostgresLeases(database.connectionString).tryTake('sealer');
    const { rows } = (await lease?.session.query('select pg_backend_pid() as pid')) as { rows: { pid: number }[] };
    const other = new pg.Client({ connectionString: database.connectionString });
    await other.connect();
    await other.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await expect(lease?.session.query('select 1')).rejects.toThrow();
    await vi.waitFor(() => expect(lease?.lost.aborted).toBe(true), PATIENT);
    await lease?.release();
    await other.end();
  });

  it('is not asked for over a connection that fails the check', async () => {
    const verify = () => Promise.reject(new Error('not this database'));
    await expect(new PostgresLeases(database.connectionString, { verify }).tryTake('sealer')).rejects.toThrow(
      'not this',
    );
    const lease = await new PostgresLeases(database.connectionString).tryTake('sealer');
    expect(lease).not.toBeNull();
    await lease?.release();
  });

  it('sends no heartbeat while a statement is under way', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const sent = vi.spyOn(pg.Client.prototype, 'query');
    try {
      const lease = await new PostgresLeases(database.connectionString).tryTake('sealer');
      const slow = lease?.session.query('select pg_sleep(0.1)');
      vi.advanceTimersByTime(60_000);
      await slow;
      await lease?.session.query(`select 'the next'`);
      vi.advanceTimersByTime(60_000);
      await lease?.session.query(`select 'the last'`);
      await lease?.release();
      const statements = sent.mock.calls.map(([text]) => text as unknown).filter((text) => typeof text === 'string');
      expect(statements.slice(1)).toEqual([
        'select pg_sleep(0.1)',
        `select 'the next'`,
        'select 1',
        `select 'the last'`,
      ]);
    } finally {
      sent.mockRestore();
      vi.useRealTimers();
    }
  });

  it('stays with a holder that beats', async () => {
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    const lease = await new PostgresLeases(database.connectionString).tryTake('sealer');
    let isTaken = false;
    const taken = hold().then(() => (isTaken = true));
    // Waits for three beats of the holder, as another session sees them.
    const seen = new Set<string>();
    await vi.waitFor(async () => {
      const { rows } = await client.query<{ beat: string }>(
        `select query_start::text as beat from pg_stat_activity
          where application_name = 'lease sealer' and query = 'select 1' and datname = current_database()`,
      );
      for (const { beat } of rows) seen.add(beat);
      expect(seen.size).toBeGreaterThan(2);
    }, PATIENT);
    expect([isTaken, lease?.lost.aborted, errors]).toEqual([false, false, []]);
    await lease?.release();
    await taken;
    await client.end();
  });
});
