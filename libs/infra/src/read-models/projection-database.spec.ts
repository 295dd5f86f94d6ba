import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { START } from '#libs/domain/kernel';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { PolicyRow } from './policies/policy.row.js';
import { CheckpointMoved, ProjectionDatabase, type ProjectionIdentity } from './projection-database.js';
import type { RowTransaction } from './row-transaction.js';

const identity: ProjectionIdentity = {
  name: 'policies',
  version: 1,
  storeId: `a store's id \\`,
  rowTypes: [PolicyRow],
};
const policy: PolicyRow = {
  id: testId('pol', 1),
  org: TEST_ORG,
  name: 'one',
  createdAt: testTime(1),
  latestVersionId: null,
};
const writePolicy = (rows: RowTransaction): Promise<void> => rows.upsert(PolicyRow, [policy]);

describe('a projection’s checkpoint', () => {
  let readModels: TestReadModels;
  let database: ProjectionDatabase;

  beforeAll(async () => {
    readModels = await createTestReadModels();
  });
  afterAll(() => readModels.drop());
  beforeEach(async () => {
    database = new ProjectionDatabase(readModels.source);
    await readModels.forgetCheckpoints('policies');
    await database.resume(identity, () => Promise.resolve(START));
  });

  const position = async (): Promise<bigint> => (await database.resume(identity, () => Promise.resolve(99n))).position;
  const rows = () => readModels.source.manager.find(PolicyRow);
  const openTransactions = () =>
    readModels.source.query<object[]>(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );

  it('moves with the rows', async () => {
    await database.advance(identity, START, 4n, writePolicy);
    expect(await position()).toBe(4n);
    expect(await rows()).toEqual([policy]);
  });

  it('moves alone over events that change none', async () => {
    await database.advance(identity, START, 4n);
    await database.advance(identity, 4n, 7n);
    expect(await position()).toBe(7n);
  });

  it('stays where it is when the rows cannot be written, and so do they', async () => {
    const attempt = database.advance(identity, START, 4n, async (transaction) => {
      await writePolicy(transaction);
      throw new Error('no more');
    });
    await expect(attempt).rejects.toThrow('no more');
    expect(await position()).toBe(START);
    expect(await rows()).toEqual([]);
    expect(await openTransactions()).toEqual([]);
  });

  it.each([
    ['elsewhere', identity, 3n],
    ['of another store', { ...identity, storeId: 'other' }, START],
    ['of another version', { ...identity, version: 2 }, START],
    ['of a projection that never ran', { ...identity, name: 'deeds' }, START],
  ] as const)('that is %s is not moved, and nothing is written', async (_, asked, from) => {
    const write = vi.fn(writePolicy);
    await expect(database.advance(asked, from, 4n, write)).rejects.toThrow(CheckpointMoved);
    await expect(database.advance(asked, from, 4n)).rejects.toThrow(CheckpointMoved);
    expect(write).not.toHaveBeenCalled();
    expect(await position()).toBe(START);
    expect(await openTransactions()).toEqual([]);
  });

  it('lets the second of two writers wait for the first and then write nothing', async () => {
    let isFirstDone = false;
    const second = vi.fn(writePolicy);
    let waiting: Promise<unknown> = Promise.resolve();
    await database.advance(identity, START, 4n, async (transaction) => {
      waiting = database.advance(identity, START, 5n, second).catch((error: unknown) => {
        expect(isFirstDone).toBe(true);
        return error;
      });
      await vi.waitFor(
        async () => {
          const blocked = await readModels.source.query<object[]>(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          expect(blocked).toHaveLength(1);
        },
        { timeout: 20_000 },
      );
      await writePolicy(transaction);
      isFirstDone = true;
    });
    expect(await waiting).toBeInstanceOf(CheckpointMoved);
    expect(second).not.toHaveBeenCalled();
    expect(await position()).toBe(4n);
  });
});
