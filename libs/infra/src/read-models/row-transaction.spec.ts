import { digestOf } from '#libs/crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { PolicySlotRow } from './policies/policy-slot.row.js';
import { PolicyVersionRow } from './policies/policy-version.row.js';
import { RowTransaction } from './row-transaction.js';

/** What would mean something within an array literal, a string literal or JSON, and what is longer in UTF-8. */
const TEXTS = [
  '',
  'null',
  'NULL',
  '{"a",b}',
  `it's "quoted" \\ and \\\\`,
  '\n\t',
  'ä€😀',
  '\u{10FFFF}',
  'x'.repeat(5_000),
];

const versionRow = (version: number, text: string): PolicyVersionRow => ({
  id: testId('pv', version),
  org: TEST_ORG,
  policy: testId('pol', 1),
  version,
  source: text,
  sourceBytes: Buffer.byteLength(text),
  sourceHash: digestOf('source'),
  versionHash: digestOf('version'),
  notes: version % 2 === 0 ? null : text,
  author: { type: 'user', id: `${text}\0\uD800` },
  origin: 'user',
  createdAt: testTime(version / 1000),
});

describe('rows of a transaction', () => {
  let readModels: TestReadModels;

  beforeAll(async () => {
    readModels = await createTestReadModels();
  });
  afterAll(() => readModels.drop());
  beforeEach(() => inTransaction(async (rows) => rows.clear(PolicyVersionRow)));

  const inTransaction = <Result>(work: (rows: RowTransaction) => Promise<Result>): Promise<Result> =>
    readModels.source.transaction((manager) => work(new RowTransaction(manager)));

  it('come back as they were written, whatever their texts', async () => {
    const written = TEXTS.map((text, index) => versionRow(index, text));
    await inTransaction((rows) => rows.upsert(PolicyVersionRow, written));
    const ids = written.map(({ id }) => id);
    const found = await inTransaction((rows) => rows.select(PolicyVersionRow, ids));
    expect([...found].sort((one, other) => one.version - other.version)).toEqual(written);
  });

  it('are the same to lists', async () => {
    await inTransaction((rows) => rows.upsert(PolicyVersionRow, [versionRow(1, 'ä€😀')]));
    expect(await readModels.source.manager.find(PolicyVersionRow)).toEqual([versionRow(1, 'ä€😀')]);
  });

  it('keep text that PostgreSQL cannot hold as near as it can', async () => {
    await inTransaction((rows) => rows.upsert(PolicyVersionRow, [versionRow(1, 'a\0b\uDC00c😀')]));
    const [row] = await readModels.source.manager.find(PolicyVersionRow);
    expect(row).toMatchObject({ source: 'a\uFFFDb\uFFFDc😀', notes: 'a\uFFFDb\uFFFDc😀' });
    expect(row?.author.id).toBe('a\0b\uDC00c😀\0\uD800');
  });

  it('replace those of the same key, and no others', async () => {
    const slot = { org: TEST_ORG, policy: null, versionId: null };
    const enforce: PolicySlotRow = { ...slot, mode: 'enforce', changedAt: testTime(1) };
    const shadow: PolicySlotRow = { ...slot, mode: 'shadow', changedAt: testTime(2) };
    await inTransaction((rows) => rows.upsert(PolicySlotRow, [enforce, shadow]));
    await inTransaction((rows) => rows.upsert(PolicySlotRow, [{ ...shadow, changedAt: testTime(3) }]));
    const found = await readModels.source.manager.find(PolicySlotRow, { order: { mode: 'ASC' } });
    expect(found).toEqual([enforce, { ...shadow, changedAt: testTime(3) }]);
  });

  it('are written by one statement that the server keeps, whatever their number', async () => {
    const kept = await readModels.source.transaction(async (manager) => {
      const rows = new RowTransaction(manager);
      for (const count of [1, 3, 2]) {
        await rows.upsert(
          PolicyVersionRow,
          Array.from({ length: count }, (_, index) => versionRow(index, 'text')),
        );
      }
      return manager.query<object[]>(`SELECT name FROM pg_prepared_statements WHERE name LIKE '%policy_versions%'`);
    });
    expect(kept).toEqual([{ name: 'upsert "read_models"."policy_versions"' }]);
  });
});
