import { type DomainError, StoreUnavailable } from '#libs/domain/kernel';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TEST_ORG, testId } from '../../../../test/support/given-log.js';
import { deedRow, writeRows } from '../../../../test/support/given-rows.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { DeedRow } from './ledger/deed.row.js';
import { ReadModels } from './org-rows.js';
import { readModelSource } from './read-model-source.js';

const OTHER_ORG = testId('org', 2);

describe('rows of an organization', () => {
  let readModels: TestReadModels;
  let rows: ReadModels;

  beforeAll(async () => {
    readModels = await createTestReadModels();
    await writeRows(readModels.source, DeedRow, [deedRow(1), deedRow(2), deedRow(3, { org: OTHER_ORG })]);
    rows = new ReadModels(readModels.source);
  });
  afterAll(() => readModels.drop());

  it('cannot be widened by a condition, not even by one with an OR', async () => {
    const found = await rows
      .of(TEST_ORG, DeedRow)
      .where('row.seq = 3 OR TRUE')
      .where('row.seq = 1 OR row.seq = 3')
      .all();
    expect(found.map(({ seq }) => seq)).toEqual([1]);
  });

  it('are found by what is stored: U+0000 as U+FFFD, also in lists', async () => {
    await writeRows(readModels.source, DeedRow, [deedRow(4, { kid: 'a\0b' })]);
    const byText = rows.of(TEST_ORG, DeedRow).where('row.kid = :kid', { kid: 'a\0b' });
    const byList = rows.of(TEST_ORG, DeedRow).where('row.kid = ANY(:kids)', { kids: ['x', 'a\0b'] });
    expect([(await byText.all()).length, (await byList.all()).length]).toEqual([1, 1]);
  });

  it('say with one row more than asked for that there is more', async () => {
    const page = await rows.of(TEST_ORG, DeedRow).where('row.seq < 3').orderBy('seq', 'ASC').page(1);
    expect(page).toMatchObject({ rows: [{ seq: 1 }], hasMore: true });
    expect(await rows.of(TEST_ORG, DeedRow).where('row.seq < 3').page(2)).toMatchObject({ hasMore: false });
  });

  it('answer 504 timeout when the search takes too long', async () => {
    const source = await readModelSource({
      connectionString: readModels.connectionString,
      applicationName: 'org rows spec',
      maxConnections: 1,
      statementTimeoutMs: 20,
      isDurable: true,
      onError: () => undefined,
    }).initialize();
    const search = new ReadModels(source).of(TEST_ORG, DeedRow).where('pg_sleep(5) IS NOT NULL').page(1);
    await expect(search).rejects.toMatchObject({ code: 'timeout', status: 504 } satisfies Partial<DomainError>);
    await source.destroy();
  });

  it('are unavailable, and not a fault of ours, when the database does not answer', async () => {
    const search = rows.of(TEST_ORG, DeedRow).where('pg_terminate_backend(pg_backend_pid()) IS NOT NULL').page(1);
    await expect(search).rejects.toBeInstanceOf(StoreUnavailable);
    await vi.waitFor(async () => expect(await rows.of(TEST_ORG, DeedRow).all()).not.toHaveLength(0), {
      timeout: 20_000,
    });
  });
});
