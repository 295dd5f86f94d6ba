import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { ActionEvent, DueAction } from '#libs/domain/gate';
import type { NewEvent, Subscription } from '#libs/domain/kernel';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { finished, GivenLog, started, testId, testTime } from '../../../../test/support/given-log.js';
import { MemoryEventStore } from '../event-store/index.js';
import { PostgresDueActions } from './postgres-due-actions.js';

let database: TestDatabase;
let pool: pg.Pool;
let store: MemoryEventStore;
let log: GivenLog;
let due: PostgresDueActions;
let following: Subscription;
let errors: unknown[];

const follow = async (): Promise<void> => {
  following = await due.follow(pool, (error) => errors.push(error));
};

beforeAll(async () => {
  database = await createWholeDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 2 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  store = new MemoryEventStore();
  log = new GivenLog(store);
  errors = [];
  due = new PostgresDueActions(pool, store);
  await follow();
});
afterEach(() => following.close());

const action = (number: number): string => `action-${testId('act', number)}`;
const submittedAndDecided = (number: number): readonly ActionEvent[] => started(number).slice(0, 2);
const requested = (number: number, expiresAt: string): ActionEvent => ({
  type: 'ApprovalRequested',
  data: {
    action: testId('act', number),
    approval: testId('apr', number),
    rule_id: null,
    approvers: ['role:admin'],
    required: 1,
    context_digest: digestOf('context'),
    expires_at: expiresAt,
    at: testTime(0),
  },
});
const approved = (number: number): ActionEvent => ({
  type: 'ApprovalDecided',
  data: {
    action: testId('act', number),
    approval: testId('apr', number),
    outcome: 'approved',
    by: testId('usr', 1),
    via: 'console',
    context_digest: digestOf('context'),
    reason: null,
    tool_digest: null,
    at: testTime(1),
  },
});
const authorized = (number: number, deadline: string): ActionEvent => ({
  type: 'EdgeAuthorized',
  data: { action: testId('act', number), deadline, at: testTime(0) },
});
const lost = (number: number): ActionEvent => ({
  type: 'EdgeLost',
  data: { action: testId('act', number), at: testTime(9) },
});

/** The actions that are due by then, in the order of their times. */
const dueBy = async (seconds: number, limit = 10) => {
  expect(await due.reach(await store.head(), 5_000)).toBe(true);
  return due.dueBy(testTime(seconds), null, limit);
};
const nameAndKind = (rows: Awaited<ReturnType<typeof dueBy>>) => rows.map(({ action: id, kind }) => [id, kind]);

describe('what comes due', () => {
  it('is every approval that was asked for and every call at the edge, the longest over first', async () => {
    await log.append(action(1), ...submittedAndDecided(1), requested(1, testTime(50)));
    await log.append(action(2), ...submittedAndDecided(2), authorized(2, testTime(40)));
    await log.append(action(3), ...started(3), finished(3));
    expect(nameAndKind(await dueBy(50))).toEqual([
      [testId('act', 2), 'edge'],
      [testId('act', 1), 'approval'],
    ]);
    expect(nameAndKind(await dueBy(49))).toEqual([[testId('act', 2), 'edge']]);
    expect(await dueBy(39)).toEqual([]);
  });

  it('is listed page by page, also if many are due at one moment', async () => {
    const numbers = [1, 2, 3, 4, 5];
    for (const number of numbers) {
      await log.append(action(number), ...submittedAndDecided(number), authorized(number, testTime(40)));
    }
    const told: string[] = [];
    for (let page = await dueBy(40, 2); page.length > 0; page = await due.dueBy(testTime(40), page.at(-1)!, 2)) {
      told.push(...page.map(({ action: id }) => id));
    }
    expect(told).toEqual(numbers.map((number) => testId('act', number)));
  });

  it('is no action that was decided or reported in time', async () => {
    await log.append(action(1), ...submittedAndDecided(1), requested(1, testTime(50)), approved(1));
    await log.append(action(2), ...submittedAndDecided(2), authorized(2, testTime(40)));
    expect(await dueBy(50)).toHaveLength(1);
    await log.append(action(2), lost(2));
    expect(await dueBy(50)).toEqual([]);
  });

  it('is the report of an edge, once a person has let it run', async () => {
    await log.append(action(1), ...submittedAndDecided(1), requested(1, testTime(50)));
    expect(nameAndKind(await dueBy(60))).toEqual([[testId('act', 1), 'approval']]);
    await log.append(action(1), approved(1), authorized(1, testTime(60)));
    expect(nameAndKind(await dueBy(60))).toEqual([[testId('act', 1), 'edge']]);
    expect(await dueBy(59)).toEqual([]);
  });

  it('is found anew if the table was lost, or belongs to another log', async () => {
    await log.append(action(1), ...submittedAndDecided(1), authorized(1, testTime(40)));
    expect(await dueBy(40)).toHaveLength(1);
    await following.close();
    await pool.query(`update gate.checkpoint set position = 1000 where name = 'due_actions'`);
    await pool.query(`update gate.due_actions set action = $1`, [testId('act', 9)]);
    await follow();
    expect(nameAndKind(await dueBy(40))).toEqual([[testId('act', 1), 'edge']]);
  });

  it('is passed on after its row is written', async () => {
    await following.close();
    const told: unknown[] = [];
    const onOpened = (rows: readonly DueAction[]): void => {
      told.push(...rows.map(({ action: id, kind }) => [id, kind]));
    };
    following = await due.follow(pool, (error) => errors.push(error), onOpened);
    await log.append(action(1), ...submittedAndDecided(1), requested(1, testTime(50)));
    await log.append(action(2), ...started(2), finished(2));
    expect(await dueBy(50)).toHaveLength(1);
    await vi.waitUntil(() => told.length > 0, { timeout: 20_000 });
    expect(told).toEqual([[testId('act', 1), 'approval']]);
  });

  it('stays due if one of its events cannot be read, and does not hold up the others', async () => {
    await log.append(action(1), ...submittedAndDecided(1), authorized(1, testTime(40)));
    const revision = (await store.heads([action(1)])).get(action(1)) ?? 0;
    const id = '00000000-0000-8000-8000-000000000001';
    const unreadable: NewEvent = { id, type: 'EdgeLost', data: '{', metadata: '{"org":"org_other"}' };
    await store.append({ stream: action(1), expectedRevision: revision, events: [unreadable] });
    await log.append(action(2), ...submittedAndDecided(2), authorized(2, testTime(41)));
    expect(await dueBy(41)).toHaveLength(2);
    expect(errors).toEqual([]);
  });
});
