import { describe, expect, it } from 'vitest';

import { checkChangePostcondition } from '../../policies/index.js';
import type { LoggedRow, LoggedTable, LoggedValue } from '../logged-transaction.js';
import { judgeChange } from './judge-change.js';

const columns = ['id', 'status', 'note'].map((name) => ({ name, type: 'text', is_key: name === 'id' }));
const text = (value: string): LoggedValue => ({ text: value });
const UPDATED: LoggedRow = {
  table: 'sales.orders',
  kind: 'update',
  columns,
  old: [text('42'), text('paid'), text('long')],
  new: [text('42'), { null: true }, { unchanged: true }],
};
const INSERTED: LoggedRow = { ...UPDATED, kind: 'insert', old: null, new: [text('7'), text('new'), { null: true }] };
const DELETED: LoggedRow = { ...UPDATED, kind: 'delete', old: [text('7'), null, null], new: null };

const table = (counts: Partial<LoggedTable>): LoggedTable => ({
  ...{ table: 'sales.orders', replica_identity: 'full', insert: 0, update: 0, delete: 0, truncate: 0 },
  ...counts,
});
const judged = (
  postcondition: string,
  rows: readonly LoggedRow[] = [UPDATED],
  counts: Partial<LoggedTable> = { update: 1 },
): string => {
  expect(checkChangePostcondition(postcondition)).toEqual([]);
  return judgeChange({ postcondition }, { id: '42', most: 3 }, { tables: [table(counts)], rows });
};

describe('the postcondition of a change', () => {
  it('is met, or fails, by what the log holds', () => {
    expect(judged('row_count == 1 && rows.all(row, row.new.id == args.id)')).toBe('met');
    expect(judged('rows.exists(row, row.table == "sales.refunds")')).toBe('failed');
    expect(judged('row_count <= args.most && rows[0].kind == "update"')).toBe('met');
  });

  it.each([
    ['NULL is null', 'rows[0].new.status == null', UPDATED, 'met'],
    ['before and after are told apart', 'rows[0].old.status == "paid"', UPDATED, 'met'],
    ['a long value left alone is what it was', 'rows[0].new.note == "long"', UPDATED, 'met'],
    [
      'it is absent where the log does not have it',
      'rows[0].new.note == "long"',
      { ...UPDATED, old: null },
      'unanswered',
    ],
    ['an insert has nothing before', 'size(rows[0].old) == 0', INSERTED, 'met'],
    ['a delete has nothing after', 'size(rows[0].new) == 0', DELETED, 'met'],
    ['of an old row the log may hold its key alone', 'rows[0].old.id == "7"', DELETED, 'met'],
    ['other columns have no answer then', 'rows[0].old.status == "paid"', DELETED, 'unanswered'],
    ['texts become numbers where the condition says so', 'int(rows[0].new.id) > 41', UPDATED, 'met'],
  ] as const)('%s', (_rule, postcondition, row, judgement) =>
    expect(judged(postcondition, [row], { [row.kind]: 1 })).toBe(judgement),
  );

  it('counts all rows, and reads none where some are not kept', () => {
    expect(judged('row_count == 30', [UPDATED], { update: 30 })).toBe('met');
    expect(judged('rows.all(row, row.kind == "update")', [UPDATED], { update: 30 })).toBe('unanswered');
    expect(judged('rows.all(row, row.kind == "update")', [], { truncate: 1 })).toBe('unanswered');
  });

  it('holds of no rows at all what it says of none', () =>
    expect(judged('row_count == 0 && rows.all(row, row.kind == "delete")', [], {})).toBe('met'));

  it('there is none to ask of a tool without one', () =>
    expect(judgeChange({}, {}, { tables: [], rows: [] })).toBe('none'));
});
