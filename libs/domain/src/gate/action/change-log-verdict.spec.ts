import { describe, expect, it } from 'vitest';
import type {
  CommittedTransaction,
  LoggedTable,
  SaidTable,
  StatementSaid,
  TableCounts,
} from '../../connectors/index.js';
import { CHANGE_LOG_REASONS, verdictOf } from './change-log-verdict.js';
import type { Postcondition, SeenTransaction } from './seen-transaction.js';

const XID = String(2n ** 32n + 7n);

const table = (name: string, kinds: SaidTable['kinds'], is_partitioned = false): SaidTable => ({
  table: name,
  kinds,
  is_partitioned,
});
const said = (
  kind: StatementSaid['kind'],
  tables: readonly SaidTable[],
  side: readonly string[] = [],
): StatementSaid => ({
  xid: XID,
  kind,
  tables,
  side_effect_tables: side,
});
const counts = (name: string, changes: Partial<TableCounts>): TableCounts => ({
  ...{ table: name, insert: 0, update: 0, delete: 0, truncate: 0 },
  ...changes,
});
const logged = (name: string, changes: Partial<LoggedTable>): LoggedTable => ({
  ...{ replica_identity: 'full' },
  ...counts(name, changes),
});
const seen = (tables: readonly LoggedTable[], changes: Partial<SeenTransaction> = {}): SeenTransaction => ({
  ...{ xid: 7, commit_lsn: '0/10', committed_at: '2026-10-01T12:00:00.000Z', tables },
  ...{ tables_left_out: 0, marks: 1, rows_kept: 1 },
  ...changes,
});
const committed = (rows: number | null, tables: readonly TableCounts[] | null): CommittedTransaction => ({
  ...{ xid: XID, commit_lsn: '0/18', rows, counts: tables },
});

const ORDERS = 'public.orders';
const AUDIT = 'public.audit';

interface Case {
  readonly said: StatementSaid;
  readonly transaction: CommittedTransaction | null;
  readonly seen: SeenTransaction;
  readonly postcondition?: Postcondition;
  readonly verdict: string;
}

const judged = ({ said: before, transaction, seen: log, postcondition = 'none' }: Case): string => {
  const { verdict, reasons } = verdictOf(before, transaction, log, postcondition);
  return [verdict, ...reasons].join(' ');
};

const one = { insert: 1 };
const updateOrders = said('update', [table(ORDERS, ['update'])]);
const oneUpdated = committed(1, [counts(ORDERS, { update: 1 })]);

const CASES: Readonly<Record<string, Case>> = {
  'the rows that were said': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([logged(ORDERS, { update: 1 })]) },
    verdict: 'VERIFIED',
  },
  'no row, where none was said': {
    ...{ said: updateOrders, transaction: committed(0, []), seen: seen([]) },
    verdict: 'VERIFIED',
  },
  'no row, where one was said': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([]) },
    verdict: 'MISMATCH row_count',
  },
  'two rows, where one was said': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([logged(ORDERS, { update: 2 })]) },
    verdict: 'MISMATCH row_count',
  },
  'two rows, where the tag counts one and the statistics two': {
    said: updateOrders,
    ...{ transaction: committed(1, [counts(ORDERS, { update: 2 })]), seen: seen([logged(ORDERS, { update: 2 })]) },
    verdict: 'MISMATCH row_count',
  },
  'another kind than was said': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([logged(ORDERS, { delete: 1 })]) },
    verdict: 'MISMATCH row_count unexpected_kind',
  },
  'another table than was said': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([logged('public.people', { update: 1 })]) },
    verdict: 'MISMATCH row_count unexpected_table',
  },
  'a table of a trigger that the config names': {
    said: said('update', [table(ORDERS, ['update'])], [AUDIT]),
    transaction: committed(1, [counts(AUDIT, one), counts(ORDERS, { update: 1 })]),
    seen: seen([logged(AUDIT, one), logged(ORDERS, { update: 1 })]),
    verdict: 'VERIFIED',
  },
  'a table of a trigger that is not published': {
    said: said('update', [table(ORDERS, ['update'])], [AUDIT]),
    transaction: committed(1, [counts(AUDIT, one), counts(ORDERS, { update: 1 })]),
    seen: seen([logged(ORDERS, { update: 1 })]),
    verdict: 'VERIFIED',
  },
  'more rows by a trigger than the statistics counted': {
    said: said('update', [table(ORDERS, ['update'])], [AUDIT]),
    transaction: committed(1, [counts(AUDIT, one), counts(ORDERS, { update: 1 })]),
    seen: seen([logged(AUDIT, { insert: 2 }), logged(ORDERS, { update: 1 })]),
    verdict: 'MISMATCH row_count',
  },
  'a cascade into a table that nobody named': {
    said: said('delete', [table(ORDERS, ['delete'])]),
    transaction: committed(1, [counts('public.items', { delete: 3 }), counts(ORDERS, { delete: 1 })]),
    seen: seen([logged('public.items', { delete: 3 }), logged(ORDERS, { delete: 1 })]),
    verdict: 'MISMATCH unexpected_table',
  },
  'a cascade within the table itself': {
    said: said('delete', [table(ORDERS, ['delete'])]),
    transaction: committed(1, [counts(ORDERS, { delete: 3 })]),
    seen: seen([logged(ORDERS, { delete: 3 })]),
    verdict: 'MISMATCH row_count',
  },
  'a cascade within the table itself, which the config names': {
    said: said('delete', [table(ORDERS, ['delete'])], [ORDERS]),
    transaction: committed(1, [counts(ORDERS, { delete: 3 })]),
    seen: seen([logged(ORDERS, { delete: 3 })]),
    verdict: 'VERIFIED',
  },
  'an insert or update on conflict': {
    said: said('insert', [table(ORDERS, ['insert', 'update'])]),
    transaction: committed(3, [counts(ORDERS, { insert: 1, update: 2 })]),
    seen: seen([logged(ORDERS, { insert: 1, update: 2 })]),
    verdict: 'VERIFIED',
  },
  'an insert on conflict that lost a race': {
    said: said('insert', [table(ORDERS, ['insert', 'update'])]),
    transaction: committed(1, [counts(ORDERS, { insert: 1, update: 1, delete: 1 })]),
    seen: seen([logged(ORDERS, { update: 1 })]),
    verdict: 'VERIFIED',
  },
  'an insert that the log does not show': {
    said: said('insert', [table(ORDERS, ['insert'])]),
    ...{ transaction: committed(1, [counts(ORDERS, one)]), seen: seen([]) },
    verdict: 'MISMATCH row_count',
  },
  'a merge of three kinds': {
    said: said('merge', [table(ORDERS, ['insert', 'update', 'delete'])]),
    transaction: committed(6, [counts(ORDERS, { insert: 1, update: 2, delete: 3 })]),
    seen: seen([logged(ORDERS, { insert: 1, update: 2, delete: 3 })]),
    verdict: 'VERIFIED',
  },
  'a merge that does less than its tag': {
    said: said('merge', [table(ORDERS, ['insert', 'update', 'delete'])]),
    ...{ transaction: committed(6, null), seen: seen([logged(ORDERS, { insert: 1, update: 2, delete: 2 })]) },
    verdict: 'MISMATCH row_count',
  },
  'a row moved to another partition': {
    said: said('update', [table(ORDERS, ['update'], true)]),
    transaction: committed(3, [counts(ORDERS, { insert: 1, update: 2, delete: 1 })]),
    seen: seen([logged(ORDERS, { insert: 1, update: 2, delete: 1 })]),
    verdict: 'VERIFIED',
  },
  'a row of a partition deleted under an update': {
    said: said('update', [table(ORDERS, ['update'], true)]),
    transaction: committed(1, null),
    seen: seen([logged(ORDERS, { delete: 1 })]),
    verdict: 'MISMATCH unexpected_kind',
  },
  'a merge that moves a row to another partition': {
    said: said('merge', [table(ORDERS, ['insert', 'update'], true)]),
    transaction: committed(2, [counts(ORDERS, { insert: 2, delete: 1 })]),
    seen: seen([logged(ORDERS, { insert: 2, delete: 1 })]),
    verdict: 'VERIFIED',
  },
  'a delete and an insert in a table without partitions': {
    said: updateOrders,
    ...{ transaction: null, seen: seen([logged(ORDERS, { insert: 1, delete: 1 })]) },
    verdict: 'MISMATCH unexpected_kind',
  },
  'a select whose part writes': {
    said: said('select', [table(ORDERS, ['update'])]),
    transaction: committed(5, [counts(ORDERS, { update: 1 })]),
    seen: seen([logged(ORDERS, { update: 1 })]),
    verdict: 'VERIFIED',
  },
  'an insert of what another part deletes': {
    said: said('insert', [table(ORDERS, ['delete']), table(AUDIT, ['insert'])]),
    transaction: committed(2, [counts(AUDIT, { insert: 2 }), counts(ORDERS, { delete: 2 })]),
    seen: seen([logged(AUDIT, { insert: 2 }), logged(ORDERS, { delete: 2 })]),
    verdict: 'VERIFIED',
  },
  'a truncate that was said': {
    said: said('truncate', [table(ORDERS, ['truncate'])]),
    ...{ transaction: committed(null, []), seen: seen([logged(ORDERS, { truncate: 1 })]) },
    verdict: 'VERIFIED',
  },
  'a truncate that was not said': {
    said: said('delete', [table(ORDERS, ['delete'])]),
    ...{ transaction: null, seen: seen([logged(ORDERS, { truncate: 1 })]) },
    verdict: 'MISMATCH truncated',
  },
  'a truncate of another table': {
    said: said('truncate', [table(ORDERS, ['truncate'])]),
    transaction: null,
    seen: seen([logged('public.items', { truncate: 1 }), logged(ORDERS, { truncate: 1 })]),
    verdict: 'MISMATCH truncated unexpected_table',
  },
  'a said truncate that the log does not show': {
    said: said('truncate', [table(ORDERS, ['truncate'])]),
    ...{ transaction: committed(null, []), seen: seen([]) },
    verdict: 'MISMATCH row_count',
  },
  'a table whose old rows the log does not hold': {
    said: updateOrders,
    ...{ transaction: oneUpdated, seen: seen([logged(ORDERS, { update: 1, replica_identity: 'nothing' })]) },
    verdict: 'UNVERIFIABLE no_replica_identity',
  },
  'an insert into a table without replica identity': {
    said: said('insert', [table(ORDERS, ['insert'])]),
    transaction: committed(1, [counts(ORDERS, one)]),
    seen: seen([logged(ORDERS, { insert: 1, replica_identity: 'nothing' })]),
    verdict: 'VERIFIED',
  },
  'a postcondition that holds': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([logged(ORDERS, { update: 1 })]) },
    ...{ postcondition: 'met', verdict: 'VERIFIED' },
  },
  'a postcondition that does not hold': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([logged(ORDERS, { update: 1 })]) },
    ...{ postcondition: 'failed', verdict: 'MISMATCH expectation' },
  },
  'a postcondition without an answer': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([logged(ORDERS, { update: 1 })]) },
    ...{ postcondition: 'unanswered', verdict: 'UNVERIFIABLE expectation' },
  },
  'a lost answer, with rows in the table that was said': {
    ...{ said: updateOrders, transaction: null, seen: seen([logged(ORDERS, { update: 4 })]) },
    verdict: 'VERIFIED',
  },
  'a lost answer, with rows elsewhere': {
    ...{ said: updateOrders, transaction: null, seen: seen([logged(AUDIT, one)]) },
    verdict: 'MISMATCH unexpected_table',
  },
  'another transaction than the one on record': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([logged(ORDERS, { update: 1 })], { xid: 8 }) },
    verdict: 'MISMATCH transaction_missing',
  },
  'a transaction that the executor names otherwise': {
    said: updateOrders,
    ...{ transaction: { ...oneUpdated, xid: '7' }, seen: seen([logged(ORDERS, { update: 1 })]) },
    verdict: 'MISMATCH transaction_missing',
  },
  'a transaction with two marks': {
    ...{ said: updateOrders, transaction: oneUpdated, seen: seen([logged(ORDERS, { update: 1 })], { marks: 2 }) },
    verdict: 'MISMATCH transaction_missing',
  },
  'more tables than are kept': {
    said: updateOrders,
    transaction: oneUpdated,
    seen: seen([logged(ORDERS, { update: 1 })], { tables_left_out: 1 }),
    verdict: 'MISMATCH unexpected_table',
  },
};

describe('the verdict of a change log', () => {
  it.each(Object.entries(CASES))('%s', (_, each) => expect(judged(each)).toBe(each.verdict));

  it('reasons are words of the closed list, in one order', () => {
    const words: readonly string[] = CHANGE_LOG_REASONS;
    for (const { verdict } of Object.values(CASES)) {
      const [, ...reasons] = verdict.split(' ');
      expect(words).toEqual(expect.arrayContaining(reasons));
      expect(reasons).toEqual([...reasons].sort());
    }
  });

  it('the summary is one sentence with what the log counts', () => {
    const log = seen([logged(AUDIT, one), logged(ORDERS, { update: 2, delete: 1 })]);
    expect(verdictOf(said('merge', []), null, log, 'none').summary).toBe(
      'The database’s change log does not show what was said: unexpected_table. It shows 1 row inserted in public.audit; 2 rows updated, 1 deleted in public.orders.',
    );
    expect(verdictOf(updateOrders, null, seen([logged(ORDERS, { update: 1 })]), 'none').summary).toBe(
      'The database’s change log shows 1 row updated in public.orders.',
    );
    expect(verdictOf(updateOrders, null, seen([]), 'none').summary).toBe(
      'The database’s change log shows a committed transaction that changed no row.',
    );
  });
});

describe('the summary of a change log', () => {
  const side = said('update', [table(ORDERS, ['update'])], [AUDIT]);
  const both = committed(1, [counts(ORDERS, { update: 1 }), counts(AUDIT, { insert: 2 })]);

  it('says which rows the database counted and the log does not show', () => {
    expect(verdictOf(side, both, seen([logged(ORDERS, { update: 1 })]), 'none')).toMatchObject({
      verdict: 'VERIFIED',
      summary:
        'The database’s change log shows 1 row updated in public.orders. The database also counted 2 rows inserted in public.audit, which the log does not show.',
    });
  });

  it('says nothing of it where the log shows all that was counted', () => {
    const all = seen([logged(ORDERS, { update: 1 }), logged(AUDIT, { insert: 2 })]);
    expect(verdictOf(side, both, all, 'none').summary).not.toContain('counted');
  });
});
