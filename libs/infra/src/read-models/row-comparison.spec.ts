import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import {
  actionRow,
  connectorRow,
  deedRow,
  policyRow,
  policyVersionRow,
  writeRows,
} from '../../../../test/support/given-rows.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { ConnectorRow } from './connectors/connector.row.js';
import { ActionRow } from './gate/action.row.js';
import { DeedRow } from './ledger/deed.row.js';
import { PolicySlotRow } from './policies/policy-slot.row.js';
import { PolicyVersionRow } from './policies/policy-version.row.js';
import { PolicyRow } from './policies/policy.row.js';
import { ReplacementTables } from './replacement-tables.js';
import type { ComparedRows, RowDifference } from './row-comparison.js';
import type { RowType } from './row-transaction.js';

let readModels: TestReadModels;
beforeAll(async () => {
  readModels = await createTestReadModels();
});
afterAll(() => readModels.drop());

const slotRow = (mode: PolicySlotRow['mode'], org = TEST_ORG): PolicySlotRow => ({
  org,
  mode,
  policy: testId('pol', 1),
  versionId: null,
  changedAt: testTime(1),
});

/** Of each table, rows and the columns of its key. */
const GIVEN: readonly (readonly [rowType: RowType<object>, rows: readonly object[], keys: readonly string[]])[] = [
  [ActionRow, [actionRow(1), actionRow(2, { errorCode: 'timeout', onBehalfOf: 'usr_1' })], ['id']],
  [DeedRow, [deedRow(1), deedRow(2)], ['id']],
  [ConnectorRow, [connectorRow(1), connectorRow(2)], ['id']],
  [PolicyRow, [policyRow(1), policyRow(2)], ['id']],
  [PolicyVersionRow, [policyVersionRow(1), policyVersionRow(2, { notes: 'a note' })], ['id']],
  [PolicySlotRow, [slotRow('enforce'), slotRow('shadow')], ['org', 'mode']],
];

/** Live rows as `rows` say, and beside them the same. */
const given = async <Row extends object>(rowType: RowType<Row>, rows: readonly Row[]): Promise<ReplacementTables> => {
  await readModels.source.manager.clear(rowType);
  await writeRows(readModels.source, rowType, rows);
  const tables = new ReplacementTables(readModels.source, [rowType]);
  await tables.create();
  await tables.write((due) => due.upsert(rowType, rows));
  await tables.analyze();
  return tables;
};
const stretchesOf = (tables: ReplacementTables): Promise<readonly ComparedRows[]> =>
  readModels.source.transaction('REPEATABLE READ', async (manager) => {
    const stretches: ComparedRows[] = [];
    for await (const compared of tables.compare(manager)) stretches.push(compared);
    return stretches;
  });
const differences = async (tables: ReplacementTables): Promise<readonly RowDifference[]> =>
  (await stretchesOf(tables)).flatMap((stretch) => stretch.differences);
const change = (statement: string, ...values: unknown[]): Promise<unknown> =>
  readModels.source.query(statement, values);

/** Another value of the same type. */
const OTHER: Readonly<Record<string, string>> = {
  text: `coalesce(value || '?', '')`,
  integer: 'value + 1',
  bigint: 'value + 1',
  boolean: 'NOT value',
  'timestamp with time zone': `coalesce(value, now()) + interval '1 millisecond'`,
};

describe.each(GIVEN)('rows of %o', (rowType, rows, keys) => {
  const metadata = () => readModels.source.getMetadata(rowType);

  it('are the same where nobody touched them', async () => {
    expect(await stretchesOf(await given(rowType, rows))).toEqual([
      { rows: 2, ofRows: 2, differenceCount: 0, differences: [] },
    ]);
  });

  it('differ in every column that was changed', async () => {
    const { tableName: table, columns } = metadata();
    const others = columns.filter(({ databaseName }) => !keys.includes(databaseName));
    for (const { databaseName: column, type } of others) {
      const tables = await given(rowType, rows);
      const other = OTHER[String(type)]!.replaceAll('value', `"${column}"`);
      await change(`UPDATE read_models.${table} SET "${column}" = ${other} WHERE ${keys.at(-1)} <> $1`, '');
      const found = await differences(tables);
      expect(found.map(({ kind, columns: differing }) => [kind, differing])).toEqual([
        ['changed', [column]],
        ['changed', [column]],
      ]);
    }
    expect(others.length).toBeGreaterThan(2);
  });

  it('are missing where they are gone, and unexpected under another key', async () => {
    const { tableName: table } = metadata();
    const tables = await given(rowType, rows);
    const [key] = [...keys].reverse();
    await change(
      `UPDATE read_models.${table} SET ${key} = 'zzz' WHERE ${key} = (SELECT max(${key}) FROM read_models.${table})`,
    );
    const found = await differences(tables);
    expect(found.map(({ kind, columns }) => [kind, columns])).toEqual([
      ['missing', []],
      ['unexpected', []],
    ]);
    expect(found[1]).toMatchObject({ table, key: keys.length === 1 ? ['zzz'] : [TEST_ORG, 'zzz'] });
  });
});

describe('the rows of a long table', () => {
  const ROWS = 4_500;
  let tables: ReplacementTables;
  beforeEach(async () => {
    tables = await given(
      DeedRow,
      Array.from({ length: ROWS }, (_, index) => deedRow(index + 1)),
    );
  });

  it('are compared in stretches, all of them', async () => {
    const stretches = await stretchesOf(tables);
    expect(stretches.map(({ rows, differenceCount }) => [rows, differenceCount])).toEqual([
      [2_000, 0],
      [2_000, 0],
      [500, 0],
    ]);
  });

  it.each([1, 2, 1_999, 2_000, 2_001, 4_000, 4_001, ROWS])('differ at %i, and nowhere else', async (number) => {
    const id = testId('deed', number);
    await change('UPDATE read_models.deeds SET seq = 0 WHERE id = $1', id);
    expect(await differences(tables)).toEqual([{ table: 'deeds', key: [id], kind: 'changed', columns: ['seq'] }]);
    await change('DELETE FROM read_models.deeds WHERE id = $1', id);
    expect(await differences(tables)).toEqual([{ table: 'deeds', key: [id], kind: 'missing', columns: [] }]);
  });

  it('are unexpected before the first, between two and after the last', async () => {
    const between = `${testId('deed', 2_000)}a`;
    for (const id of ['a', between, 'z']) {
      await change(
        `INSERT INTO read_models.deeds SELECT $1, org, seq, kind, action, agent, issued_at, body_hash, prev_hash, kid, signature
          FROM read_models.deeds WHERE seq = 1 LIMIT 1`,
        id,
      );
    }
    expect((await differences(tables)).map(({ kind, key }) => [kind, ...key])).toEqual([
      ['unexpected', 'a'],
      ['unexpected', between],
      ['unexpected', 'z'],
    ]);
  });

  it('are all counted, and a hundred of a stretch named', async () => {
    await change('TRUNCATE read_models.deeds');
    const stretches = await stretchesOf(tables);
    expect(stretches.map(({ differenceCount, differences: named }) => [differenceCount, named.length])).toEqual([
      [2_000, 100],
      [2_000, 100],
      [500, 100],
    ]);
  });
});
