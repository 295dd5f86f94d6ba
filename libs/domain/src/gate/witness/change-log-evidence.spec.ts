import { describe, expect, it } from 'vitest';
import { canonicalize, digestOf, type JsonObject } from '#libs/crypto';
import type { LoggedRow, LoggedTransaction } from '../../connectors/index.js';
import type { ActionId } from '../../kernel/index.js';
import { changeLogEvidence, EVIDENCE_MAX_BYTES } from './change-log-evidence.js';

const ACTION = 'act_00000000000000000000000001' as ActionId;
const columns = [
  { name: 'id', type: 'int8', is_key: true },
  { name: 'note', type: 'text', is_key: false },
];
const row = (changes: Partial<LoggedRow> = {}): LoggedRow => ({
  ...{ table: 'public.orders', kind: 'update', columns },
  ...{ old: [{ text: '1' }, { null: true }], new: [{ text: '1' }, { text: 'paid' }] },
  ...changes,
});
const logged = (rows: readonly LoggedRow[]): LoggedTransaction => ({
  ...{ xid: 7, commit_lsn: '0/10', end_lsn: '0/18', committed_at: '2026-10-01T12:00:00.000Z', marks: ['{}'] },
  tables: [{ table: 'public.orders', insert: 0, update: 40, delete: 0, truncate: 0, replica_identity: 'full' }],
  rows,
});
const documentOf = (rows: readonly LoggedRow[]): JsonObject =>
  JSON.parse(changeLogEvidence(ACTION, 1, logged(rows)).body) as JsonObject;
const rowsOf = (rows: readonly LoggedRow[]) => documentOf(rows)['rows'] as readonly JsonObject[];

describe('the evidence of a change log', () => {
  it('holds what the log shows, in RFC 8785 form', () => {
    const { body, rowsKept } = changeLogEvidence(ACTION, 1, logged([row()]));
    const document = JSON.parse(body) as JsonObject;
    expect(canonicalize(document)).toBe(body);
    expect(rowsKept).toBe(1);
    expect(document).toEqual({
      ...{ v: 1, kind: 'change_log', action: ACTION, attempt: 1, xid: 7, commit_lsn: '0/10' },
      ...{ committed_at: '2026-10-01T12:00:00.000Z', tables_left_out: 0, rows_total: 40, rows_kept: 1 },
      tables: logged([]).tables,
      columns: { 'public.orders': columns },
      rows: [
        {
          ...{ table: 'public.orders', kind: 'update', key: { id: '1' } },
          ...{ old: { id: '1', note: null }, new: { id: '1', note: 'paid' } },
        },
      ],
    });
  });

  it('has no member for a column that the log does not hold, and says which long value was left alone', () =>
    expect(rowsOf([row({ old: [{ text: '1' }, null], new: [{ text: '1' }, { unchanged: true }] })])[0]).toMatchObject({
      old: { id: '1' },
      new: { id: '1', note: { unchanged: true } },
    }));

  it('takes the key of a deleted row from the old one', () =>
    expect(rowsOf([row({ kind: 'delete', new: null })])[0]).toMatchObject({ key: { id: '1' }, new: null }));

  it('keeps a column that is called like a member of every object', () => {
    const odd = [{ name: '__proto__', type: 'text', is_key: false }];
    const { body } = changeLogEvidence(ACTION, 1, logged([row({ columns: odd, old: null, new: [{ text: 'x' }] })]));
    expect(body).toContain('"new":{"__proto__":"x"}');
  });

  it('cuts a long value, and keeps its length and digest', () => {
    const text = 'ä'.repeat(200_000);
    const [first] = rowsOf([row({ new: [{ text: '1' }, { text }] })]);
    const value = (first?.['new'] as JsonObject)['note'] as JsonObject;
    expect(value).toEqual({ begins: 'ä'.repeat(4_096), bytes: 400_000, digest: digestOf(text) });
  });

  it('never cuts a character in two', () => {
    const text = `x${'ä'.repeat(200_000)}`;
    const [first] = rowsOf([row({ new: [{ text: '1' }, { text }] })]);
    expect(((first?.['new'] as JsonObject)['note'] as JsonObject)['begins']).toBe(`x${'ä'.repeat(4_095)}`);
  });

  it.each([10, 100, 1_600])('is short enough with %i columns of long values in 20 rows', (count) => {
    const wide = Array.from({ length: count }, (_, index) => ({
      ...{ name: `column_${index}_${'n'.repeat(45)}`, type: 'text', is_key: index === 0 },
    }));
    const values = wide.map(() => ({ text: 'v'.repeat(20_000) }));
    const rows = Array.from({ length: 20 }, () => row({ columns: wide, old: values, new: values }));
    const { body, rowsKept } = changeLogEvidence(ACTION, 1, logged(rows));
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(EVIDENCE_MAX_BYTES);
    const document = JSON.parse(body) as JsonObject;
    expect(document).toMatchObject({ rows_total: 40, rows_kept: rowsKept });
    expect(document['rows']).toHaveLength(rowsKept);
  });
});
