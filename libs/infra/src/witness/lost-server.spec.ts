import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoggedTransaction } from '#libs/domain/connectors';
import { followLog, logIn, type LoggedDatabase } from '../../../../test/support/change-log.js';
import { type OwnServer, postmasterPidIn, startOwnServer } from '../../../../test/support/own-server.js';
import { ChangeLogFault } from './change-log-fault.js';
import { dropSlot, slotStateOf } from './slots.js';

let server: OwnServer;
let logged: LoggedDatabase;

const asked = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
  for (;;) {
    const client = new pg.Client({ connectionString: logged.connectionString });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } catch (error) {
      if (/^(57P|08)/.test(String((error as { code?: unknown }).code))) await delay(20);
      else if ((error as { severity?: unknown }).severity !== undefined) throw error;
      else await delay(20);
    } finally {
      await client.end();
    }
  }
};

beforeAll(async () => {
  server = await startOwnServer();
  logged = await logIn(server.connectionString('postgres'));
  await logged.client.query('create table t (id int primary key)');
  await logged.publish('t');
  await logged.client.end();
});
afterAll(() => server.dispose());

const idsOf = ({ rows }: LoggedTransaction) =>
  rows.map(({ new: after }) => Number((after?.[0] as { text: string } | undefined)?.text));

/** Follows through every loss, as a worker does; gives what it saw, repetitions included. */
const followThrough = () => {
  const [seen, faults, handled]: [number[], string[], AbortController] = [[], [], new AbortController()];
  const course = async () => {
    while (!handled.signal.aborted) {
      const log = followLog(logged, {
        signal: handled.signal,
        onTransaction: (transaction) => {
          seen.push(...idsOf(transaction));
          return Promise.resolve();
        },
      });
      await log.ended.catch((error: unknown) => {
        if (!(error instanceof ChangeLogFault)) throw error;
        faults.push(error.reason);
        return delay(20);
      });
    }
  };
  return { seen, faults, ended: course(), stop: () => handled.abort() };
};

/** No row of a later writer has the id of an earlier one: a server that was killed gives again what it gave long before. */
let last = 0;

/** Writes one row after the other until it is stopped; a row whose answer was lost is written again where it is not there. */
const writeThrough = () => {
  const stopped = new AbortController();
  const course = async () => {
    while (!stopped.signal.aborted) {
      const ids = [1, 2, 3, 4, 5].map((step) => last + step);
      const transactions = ids.map((id) => `begin; insert into t values (${id}) on conflict do nothing; commit`);
      await asked(transactions.join('; '));
      last += 5;
    }
  };
  const ended = course();
  return {
    stop: () => {
      stopped.abort();
      return ended;
    },
  };
};

describe('a server that is lost', () => {
  it.each<[string, () => Promise<void>]>([
    ['is restarted without a farewell', () => server.restart()],
    [
      'is killed',
      async () => {
        const pid = postmasterPidIn(server.stateDir);
        process.kill(pid, 'SIGKILL');
        while (postmasterPidOf() === pid) await delay(20);
        await asked('select 1');
      },
    ],
    [
      'is stopped in good order and started again',
      async () => {
        await server.stop();
        await server.start();
      },
    ],
  ])('gives every committed transaction, none skipped, when it %s under load', async (_title, lose) => {
    const before = last;
    const [reader, writer] = [followThrough(), writeThrough()];
    for (let round = 0; round < 2; round += 1) {
      const seen = reader.seen.length;
      await expect.poll(() => reader.seen.length, { timeout: 60_000 }).toBeGreaterThan(seen + 20);
      await lose();
    }
    await writer.stop();
    await expect.poll(() => reader.seen.includes(last), { timeout: 60_000 }).toBe(true);
    reader.stop();
    await reader.ended;
    const committed = (await asked(`select id from t where id > ${before} order by id`)).map(({ id }) => id);
    // In their order the first time: a repetition begins further back, and skips nothing either.
    expect([...new Set(reader.seen.filter((id) => id > before))]).toEqual(committed);
    for (const [at, id] of reader.seen.entries()) {
      expect(id).toBeLessThanOrEqual((reader.seen[at - 1] ?? before) + 1);
    }
    const causes = ['connection_lost', 'unavailable', 'unreachable', 'slot_in_use'];
    expect(reader.faults.filter((reason) => !causes.includes(reason))).toEqual([]);
    expect(reader.faults.length).toBeGreaterThan(0);
  });
});

describe('a slot that is lost', () => {
  it('is invalidated once the server has removed what it kept', async () => {
    await asked(`alter system set max_slot_wal_keep_size = '1MB'`);
    await asked('select pg_reload_conf()');
    for (let count = 0; count < 4; count += 1) {
      await asked(`insert into t values (${1_000_000 + count})`);
      await asked('select pg_switch_wal()');
    }
    await asked('checkpoint');
    const client = new pg.Client({ connectionString: logged.connectionString });
    await client.connect();
    expect(await slotStateOf(client, logged.slot)).toMatchObject({ walStatus: 'lost' });
    await expect(followLog(logged).ended).rejects.toMatchObject({ reason: 'slot_invalidated' });
    await dropSlot(client, logged.slot);
    await expect(followLog(logged).ended).rejects.toMatchObject({ reason: 'slot_missing' });
    await client.end();
  });
});

const postmasterPidOf = (): number | null => {
  try {
    return postmasterPidIn(server.stateDir);
  } catch {
    return null;
  }
};
