import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { digestOf, type Digest } from '#libs/crypto';
import { type ActionEvent, GATE_DEFAULTS, PayloadSweeper, type PayloadPage, type PayloadRow } from '#libs/domain/gate';
import {
  saltedPayload,
  type EventStore,
  type PayloadKind,
  StoreUnavailable,
  UnknownEventType,
} from '#libs/domain/kernel';
import { MemoryEventStore, PostgresEventStore } from '#libs/infra/event-store';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import {
  finished,
  GivenLog,
  outcome,
  started,
  submission,
  TEST_ORG,
  testId,
  testTime,
} from '../../../../test/support/given-log.js';
import { newEvent } from '../../../../test/support/new-event.js';
import { PostgresPayloadRows } from './postgres-payload-rows.js';
import { PostgresPayloadStore } from './postgres-payload-store.js';

const HOUR_MS = GATE_DEFAULTS.payloadMinAgeMs;

let database: TestDatabase;
let pool: pg.Pool;
let payloads: PostgresPayloadStore;
let store: PostgresEventStore;
let log: GivenLog;

beforeEach(async () => {
  database = await createWholeDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 4 });
  pool.on('error', () => undefined);
  payloads = new PostgresPayloadStore(pool);
  const { connectionString } = database;
  store = new PostgresEventStore({ connectionString, applicationName: 'sweep', onConnectionLost: () => undefined });
  log = new GivenLog(store);
  await givenOrganization(store);
});
afterEach(async () => {
  await store.close();
  await pool.end();
  await database.drop();
});

const givenOrganization = (where: EventStore) =>
  where.append({ stream: `org-${TEST_ORG}`, expectedRevision: 'no_stream', events: [newEvent()] });
const action = (number: number) => `action-${testId('act', number)}`;
const inputOf = (number: number) => submission(number).input_digest;
const lateReport = (number: number, digest: Digest): ActionEvent => ({
  type: 'LateReport',
  data: {
    ...outcome({ result_digest: digest }),
    action: testId('act', number),
    attempt: 1,
    claim: `claim ${number}`,
    at: testTime(number),
  },
});

/** Stores a row that looks `ageMs` old. */
const stored = async (number: number, kind: PayloadKind, digest: Digest, ageMs = HOUR_MS + 1_000): Promise<void> => {
  const owner = testId('act', number);
  await payloads.put(saltedPayload({ owner, org: TEST_ORG, kind, digest, body: '{}' }));
  await pool.query(
    `update gate.payloads set created_at = now() - $4 * interval '1 millisecond'
      where owner = $1 and kind = $2 and digest = $3`,
    [owner, kind, digest, ageMs],
  );
};
const digestsLeft = async (): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ digest: string }>(`select digest from gate.payloads order by number`);
  return rows.map(({ digest }) => digest);
};
const sweeper = (pageRows?: number, rows = new PostgresPayloadRows(pool, store), where: EventStore = store) =>
  new PayloadSweeper(where, rows, HOUR_MS, pageRows);
const sweep = async (one = sweeper()): Promise<number> => {
  let removed = 0;
  for (;;) {
    const page = await one.sweepPage();
    removed += page.removed;
    if (!page.hasMore) return removed;
  }
};

describe('payload sweep: a payload that no event names is removed', () => {
  it('a policy input whose append never came', async () => {
    await stored(1, 'policy_input', inputOf(1));
    expect(await sweep()).toBe(1);
    expect(await digestsLeft()).toEqual([]);
  });

  it('the policy input of a racing duplicate that lost, and not the winner’s', async () => {
    await stored(1, 'policy_input', inputOf(1));
    await stored(1, 'policy_input', digestOf('input of the loser'));
    await log.append(action(1), ...started(1));
    expect(await sweep()).toBe(1);
    expect(await digestsLeft()).toEqual([inputOf(1)]);
  });

  it('with its salts, and leaves those of others', async () => {
    await stored(1, 'policy_input', inputOf(1));
    await stored(1, 'policy_input', digestOf('input of the loser'));
    await log.append(action(1), ...started(1));
    await sweep();
    const { rows } = await pool.query<{ digest: string }>('select digest from gate.payload_salts');
    expect(rows.map(({ digest }) => digest)).toEqual([inputOf(1)]);
  });

  it('the policy input of a submission that was abandoned', async () => {
    await stored(1, 'policy_input', inputOf(1));
    const abandoned = { action: testId('act', 1), at: testTime(1) };
    await log.append(action(1), { type: 'SubmissionAbandoned', data: abandoned });
    expect(await sweep()).toBe(1);
  });

  it('a result that a crash kept from being recorded', async () => {
    await log.append(action(1), ...started(1), finished(1, { status: 'unknown', result_digest: null }));
    await stored(1, 'policy_input', inputOf(1));
    await stored(1, 'result', digestOf('the lost answer'));
    expect(await sweep()).toBe(1);
    expect(await digestsLeft()).toEqual([inputOf(1)]);
  });

  it('not a result that a late report names: it is evidence', async () => {
    const [first, late] = [digestOf('the answer'), digestOf('the late answer')];
    await log.append(action(1), ...started(1), finished(1, { result_digest: first }), lateReport(1, late));
    for (const digest of [first, late, digestOf('an answer that was never reported')])
      await stored(1, 'result', digest);
    expect(await sweep()).toBe(1);
    expect(await digestsLeft()).toEqual([first, late]);
  });

  it('not a row that is named as another kind', async () => {
    await log.append(action(1), ...started(1));
    await stored(1, 'result', inputOf(1));
    expect(await sweep()).toBe(1);
  });

  it('asks once for a page of actions, and reads only those that exist', async () => {
    for (let number = 1; number <= 5; number += 1) await stored(number, 'policy_input', inputOf(number));
    await log.append(action(3), ...started(3));
    await store.storeId();
    const [heads, reads] = [vi.spyOn(store, 'heads'), vi.spyOn(store, 'readStream')];
    expect(await sweep()).toBe(4);
    expect(heads).toHaveBeenCalledOnce();
    expect(reads.mock.calls.map(([stream]) => stream)).toEqual([action(3)]);
  });
});

describe('payload sweep: left alone are', () => {
  it('a row younger than an hour, and all that were stored after it', async () => {
    await stored(1, 'policy_input', inputOf(1));
    await stored(2, 'policy_input', inputOf(2), HOUR_MS - 60_000);
    await stored(3, 'policy_input', inputOf(3));
    expect(await sweep()).toBe(1);
    expect(await digestsLeft()).toEqual([inputOf(2), inputOf(3)]);
    await pool.query(`update gate.payloads set created_at = now() - interval '2 hours'`);
    expect(await sweep()).toBe(2);
  });

  it.each(['heads', 'readStream'] as const)('every row, while the store does not answer %s', async (question) => {
    await log.append(action(1), ...started(1));
    await stored(1, 'policy_input', inputOf(1));
    await stored(2, 'policy_input', inputOf(2));
    await store.storeId();
    vi.spyOn(store, question).mockRejectedValueOnce(new StoreUnavailable('not now'));
    await expect(sweep()).rejects.toThrow(StoreUnavailable);
    expect(await digestsLeft()).toEqual([inputOf(1), inputOf(2)]);
    expect(await sweep()).toBe(1);
  });

  it('all rows, if a newer version wrote an event that may name one', async () => {
    await stored(1, 'policy_input', inputOf(1));
    await stored(2, 'policy_input', inputOf(2));
    await log.append(action(1), { type: 'ActionTeleported', data: {} });
    await expect(sweep()).rejects.toThrow(UnknownEventType);
    expect(await digestsLeft()).toEqual([inputOf(1), inputOf(2)]);
  });

  it('rows of organizations that the store does not know: it is not the store they were written beside', async () => {
    await stored(1, 'policy_input', inputOf(1));
    const empty = new MemoryEventStore();
    expect(await sweep(sweeper(10, new PostgresPayloadRows(pool, empty), empty))).toBe(0);
    expect(await digestsLeft()).toEqual([inputOf(1)]);
  });
});

describe('payload sweep: each row is looked at once', () => {
  /** Records which actions the sweep asks the store for, by call. */
  const spyOnOwners = () => {
    const heads = vi.spyOn(store, 'heads');
    return () => heads.mock.calls.map(([streams]) => streams.filter((stream) => stream.startsWith('action-')));
  };

  beforeEach(async () => {
    for (let number = 1; number <= 5; number += 1) {
      await stored(number, 'policy_input', inputOf(number));
      if (number !== 4) await log.append(action(number), ...started(number));
    }
    await store.storeId();
  });

  it('page by page, in the order they were stored', async () => {
    const owners = spyOnOwners();
    expect(await sweep(sweeper(2))).toBe(1);
    expect(owners()).toEqual([[action(1), action(2)], [action(3), action(4)], [action(5)]]);
  });

  it('after a restart from where the last process was', async () => {
    await sweeper(2).sweepPage();
    const owners = spyOnOwners();
    expect(await sweep(sweeper(2))).toBe(1);
    expect(owners()).toEqual([[action(3), action(4)], [action(5)]]);
    await stored(6, 'policy_input', inputOf(6));
    expect(await sweep(sweeper(2))).toBe(1);
    expect(owners().at(-1)).toEqual([action(6)]);
  });

  it('anew under another store, whose events may name other rows', async () => {
    await sweep();
    const moved = new MemoryEventStore();
    await givenOrganization(moved);
    await new GivenLog(moved).append(action(2), ...started(2));
    expect(await sweep(sweeper(2, new PostgresPayloadRows(pool, moved), moved))).toBe(3);
    expect(await digestsLeft()).toEqual([inputOf(2)]);
  });

  it('also by a process that was overtaken: it removes nothing and moves nothing back', async () => {
    const rows = new PostgresPayloadRows(pool, store);
    const [stale, current] = [await rows.next(HOUR_MS, 2), await rows.next(HOUR_MS, 4)];
    expect(await rows.settle(current, [])).toBe(true);
    expect(await rows.settle(stale, stale.rows)).toBe(false);
    expect(await digestsLeft()).toHaveLength(5);
    expect((await rows.next(HOUR_MS, 4)).rows.map(({ digest }) => digest)).toEqual([inputOf(5)]);
  });

  it('also when several processes sweep at once: one of them moves on from each page', async () => {
    const removed = await Promise.all(Array.from({ length: 4 }, () => sweep(sweeper(1))));
    await sweep(sweeper(1));
    expect(removed.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(1);
    expect(await digestsLeft()).toEqual([1, 2, 3, 5].map(inputOf));
  });
});

describe('payload sweep: a crash', () => {
  const isMoved = async () => (await pool.query(`select from gate.checkpoint`)).rowCount === 1;

  beforeEach(async () => {
    await log.append(action(2), ...started(2));
    for (const number of [1, 2, 3]) await stored(number, 'policy_input', inputOf(number));
  });

  it('between the removal and the move of the place undoes the removal, and the next sweep does both', async () => {
    // Ends the connection at the end of the transaction, after the rows are removed and the position has moved.
    await pool.query(
      `create function gate.die() returns trigger language plpgsql as $$
         begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
       create constraint trigger die after delete on gate.payloads
         deferrable initially deferred for each row execute function gate.die()`,
    );
    await expect(sweep()).rejects.toThrow(StoreUnavailable);
    expect(await digestsLeft()).toEqual([1, 2, 3].map(inputOf));
    expect(await isMoved()).toBe(false);
    await pool.query(`drop trigger die on gate.payloads`);
    expect(await sweep()).toBe(2);
    expect(await digestsLeft()).toEqual([inputOf(2)]);
    expect(await isMoved()).toBe(true);
  });

  it('after both and before the answer lets the next sweep continue there', async () => {
    class Unheard extends PostgresPayloadRows {
      override async settle(page: PayloadPage, orphans: readonly PayloadRow[]): Promise<boolean> {
        await super.settle(page, orphans);
        throw new StoreUnavailable('the answer was lost');
      }
    }
    await expect(sweep(sweeper(2, new Unheard(pool, store)))).rejects.toThrow(StoreUnavailable);
    expect(await digestsLeft()).toEqual([inputOf(2), inputOf(3)]);
    expect(await sweep(sweeper(2))).toBe(1);
    expect(await digestsLeft()).toEqual([inputOf(2)]);
  });
});
