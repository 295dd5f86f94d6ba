import { describe, expect, it } from 'vitest';
import {
  cellsOf,
  type ChangeLogEvidence,
  doneTo,
  keyOfRow,
  type LoggedRow,
  rowsLeftOut,
  withoutOldRows,
} from './changed-rows.ts';

const TABLE = 'public.customers';
const column = (name: string, isKey = false) => ({ name, type: 'text', is_key: isKey });
const counts = { table: TABLE, insert: 0, update: 1, delete: 0, truncate: 0, replica_identity: 'full' } as const;

const evidence = (over: Partial<ChangeLogEvidence> = {}): ChangeLogEvidence => ({
  v: 1,
  kind: 'change_log',
  action: 'act_1',
  attempt: 1,
  xid: 7,
  commit_lsn: '0/1',
  committed_at: '2026-11-29T22:00:00Z',
  tables: [counts],
  tables_left_out: 0,
  columns: { [TABLE]: [column('id', true), column('name'), column('note')] },
  rows: [],
  rows_total: 0,
  rows_kept: 0,
  ...over,
});

const row = (over: Partial<LoggedRow>): LoggedRow => ({ table: TABLE, kind: 'update', old: null, new: null, ...over });
const changed = (of: LoggedRow) => cellsOf(of, evidence()).map(({ column: name, isChanged }) => [name, isChanged]);

describe('the rows of a change log', () => {
  it('have their columns in the order of the table, and each that differs is changed', () => {
    const of = row({ old: { note: null, name: 'Ada', id: '7' }, new: { id: '7', name: 'Eva', note: null } });
    expect(changed(of)).toEqual([
      ['id', false],
      ['name', true],
      ['note', false],
    ]);
    expect(cellsOf(of, evidence()).map(({ isKey }) => isKey)).toEqual([true, false, false]);
  });

  it('tell NULL from an empty text', () => {
    const of = row({ old: { note: null }, new: { note: '' } });
    expect(cellsOf(of, evidence())).toEqual([
      { column: 'note', isKey: false, before: { is: 'null' }, after: { is: 'text', text: '' }, isChanged: true },
    ]);
  });

  it('leave it open whether a column was changed where the log does not hold what it was', () => {
    expect(changed(row({ old: null, new: { id: '7', name: 'Eva' } }))).toEqual([
      ['id', null],
      ['name', null],
    ]);
    expect(changed(row({ old: { id: '6' }, new: { id: '7', name: 'Eva' } }))).toEqual([
      ['id', true],
      ['name', null],
    ]);
  });

  it('have a long value that was left alone as unchanged, whether the log holds it or not', () => {
    expect(changed(row({ old: null, new: { note: { unchanged: true } } }))).toEqual([['note', false]]);
    expect(changed(row({ old: { note: 'long' }, new: { note: { unchanged: true } } }))).toEqual([['note', false]]);
  });

  it('compare values that are cut by their digest', () => {
    const cut = (digest: string) => ({ begins: 'same', bytes: 9_000, digest });
    expect(changed(row({ old: { note: cut('sha256:a') }, new: { note: cut('sha256:a') } }))).toEqual([['note', false]]);
    expect(changed(row({ old: { note: cut('sha256:a') }, new: { note: cut('sha256:b') } }))).toEqual([['note', true]]);
    expect(changed(row({ old: { note: 'same' }, new: { note: cut('sha256:b') } }))).toEqual([['note', true]]);
  });

  it('of an insert have no before, of a delete no after', () => {
    expect(cellsOf(row({ kind: 'insert', new: { id: '7' } }), evidence())).toMatchObject([
      { before: { is: 'no_row' }, after: { is: 'text', text: '7' }, isChanged: null },
    ]);
    expect(cellsOf(row({ kind: 'delete', old: { id: '7' } }), evidence())).toMatchObject([
      { before: { is: 'text', text: '7' }, after: { is: 'no_row' }, isChanged: null },
    ]);
  });

  it('show a column that is not among those of the table, too', () =>
    expect(changed(row({ kind: 'insert', new: { odd: '1', id: '7' } })).map(([name]) => name)).toEqual(['id', 'odd']));

  it('are named by their key', () => {
    const columns = { [TABLE]: [column('day', true), column('name'), column('id', true)] };
    expect(keyOfRow(row({ key: { id: '7', day: '1' } }), evidence({ columns }))).toBe('day 1, id 7');
    expect(keyOfRow(row({ key: { id: '7'.repeat(61), day: '1' } }), evidence({ columns }))).toBe('day 1');
    expect(keyOfRow(row({}), evidence())).toBe('');
  });

  it('are named by their first column where the log takes each column for a key', () => {
    const columns = { [TABLE]: [column('id', true), column('name', true)] };
    const of = row({ key: { id: '7', name: 'Ada' }, old: { id: '7' }, new: { id: '7' } });
    expect(keyOfRow(of, evidence({ columns }))).toBe('id 7');
    expect(cellsOf(of, evidence({ columns })).map(({ isKey }) => isKey)).toEqual([false]);
  });

  it('are counted where they are not shown', () => {
    const rows = Array.from({ length: 20 }, () => row({}));
    expect(rowsLeftOut(evidence({ rows, rows_total: 57, rows_kept: 20 }))).toBe(37);
    expect(rowsLeftOut(evidence({ rows: [...rows, ...rows], rows_total: 40, rows_kept: 40 }))).toBe(20);
    expect(rowsLeftOut(evidence({ rows_total: 3 }))).toBe(3);
  });
});

describe('the tables of a change log', () => {
  it('are those without old rows, where a row was changed or deleted and the identity is not full', () => {
    const table = (name: string, over: object) => ({ ...counts, table: name, ...over });
    const tables = [
      table('a', { replica_identity: 'default' }),
      table('b', {}),
      table('c', { update: 0, insert: 1, replica_identity: 'default' }),
      table('d', { update: 0, delete: 2, replica_identity: 'nothing' }),
    ];
    expect(withoutOldRows(evidence({ tables }))).toEqual(['a', 'd']);
  });

  it('say in words what was done to each', () => {
    expect(doneTo({ ...counts, insert: 1, update: 1_200, delete: 0 })).toBe('1 row inserted, 1,200 rows updated');
    expect(doneTo({ ...counts, update: 0, truncate: 1 })).toBe('truncated');
  });
});
