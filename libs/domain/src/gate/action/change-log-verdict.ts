import type {
  ChangeKind,
  CommittedTransaction,
  LoggedTable,
  SaidTable,
  StatementSaid,
  TableCounts,
} from '../../connectors/index.js';
import type { Verdict } from '../../kernel/index.js';
import type { WitnessVerdict } from './action.events.js';
import { changesOf, type Postcondition, type SeenTransaction } from './seen-transaction.js';

/** Why a change log does not verify a call. Closed: auditors and policies compare these words. */
export const CHANGE_LOG_REASONS = [
  ...(['transaction_missing', 'row_count', 'unexpected_table', 'unexpected_kind', 'truncated'] as const),
  ...(['expectation', 'slot_lagging', 'slot_invalidated', 'decoder_down', 'no_replica_identity'] as const),
  ...(['log_restored', 'timeout'] as const),
] as const;
export type ChangeLogReason = (typeof CHANGE_LOG_REASONS)[number];

type Judgement = Pick<WitnessVerdict, 'verdict' | 'reasons' | 'summary' | 'diff_rows'>;

/**
 * Compares what the change log shows with what was said before the statement, and what the database counted before
 * COMMIT. VERIFIED only if all of it agrees; docs/adr/0033 says what each rule is for.
 * @param transaction null where the answer of the statement was lost: then only tables and kinds are compared
 */
export const verdictOf = (
  said: StatementSaid,
  transaction: CommittedTransaction | null,
  seen: SeenTransaction,
  postcondition: Postcondition,
): Judgement => {
  const { mismatches, unclear } = compare(said, transaction, seen);
  if (postcondition === 'failed') mismatches.add('expectation');
  if (postcondition === 'unanswered') unclear.add('expectation');
  const verdict = mismatches.size > 0 ? 'MISMATCH' : unclear.size > 0 ? 'UNVERIFIABLE' : 'VERIFIED';
  const reasons = verdict === 'MISMATCH' ? mismatches : unclear;
  const judgement = judged(verdict, [...reasons].sort(), seen);
  return { ...judgement, summary: judgement.summary + unseenIn(transaction, seen) };
};

/**
 * Rows that the database counted before COMMIT and the log does not show: of a table that is not published, which the
 * config lets triggers and cascades change. No part of the verdict, and a verdict that kept silent would seem to be of all.
 */
const unseenIn = (transaction: CommittedTransaction | null, seen: SeenTransaction): string => {
  const shown = new Set(seen.tables.map(({ table }) => table));
  const unseen = (transaction?.counts ?? []).filter((counts) => !shown.has(counts.table) && changesOf(counts) > 0);
  if (unseen.length === 0 || seen.tables_left_out > 0) return '';
  const named = unseen.slice(0, NAMED_MAX).map(changesOfTable).join('; ');
  const others = unseen.length - NAMED_MAX;
  return ` The database also counted ${named}${others > 0 ? `; and ${others} more tables` : ''}, which the log does not show.`;
};

/** Of a transaction that the log shows although the call was reported as failed. */
export const contradictionOf = (seen: SeenTransaction): Judgement => ({
  ...judged('MISMATCH', ['row_count'], seen),
  summary: `The call was reported as failed, and the database’s change log shows that it committed: ${changesIn(seen)}.`,
});

const judged = (verdict: Verdict, reasons: readonly ChangeLogReason[], seen: SeenTransaction): Judgement => ({
  verdict,
  reasons,
  summary: summaryOf(verdict, reasons, seen),
  diff_rows: seen.rows_kept,
});

interface Found {
  readonly mismatches: Set<ChangeLogReason>;
  /** Why the log cannot say. Told only where nothing contradicts. */
  readonly unclear: Set<ChangeLogReason>;
}

const compare = (said: StatementSaid, transaction: CommittedTransaction | null, seen: SeenTransaction): Found => {
  const found: Found = { mismatches: new Set(), unclear: new Set() };
  if (!isSame(said, transaction, seen)) found.mismatches.add('transaction_missing');
  if (seen.tables_left_out > 0) found.mismatches.add('unexpected_table');
  const free = new Set(said.side_effect_tables);
  const named = new Map(said.tables.map((table) => [table.table, table]));
  for (const table of seen.tables)
    compareTable(table, { named: named.get(table.table), isFree: free.has(table.table) }, found);
  // A table is published only where the log can say which of its rows was changed.
  if (said.tables.some(({ is_unpublished }) => is_unpublished === true)) found.unclear.add('no_replica_identity');
  if (!wereTruncated(said, free, seen)) found.mismatches.add('row_count');
  compareCounts({ said, free, named }, transaction, seen, found);
  return found;
};

/** TRUNCATE has no rows that could be counted, but its tables are in the log even if they were empty. */
const wereTruncated = ({ kind, tables }: StatementSaid, free: ReadonlySet<string>, seen: SeenTransaction): boolean =>
  kind !== 'truncate' ||
  tables.every(
    ({ table, is_unpublished }) =>
      is_unpublished === true || free.has(table) || seen.tables.some((one) => one.table === table && one.truncate > 0),
  );

/** Whether it is the transaction on record, and it carries the mark of this call alone. */
const isSame = (
  { xid }: StatementSaid,
  transaction: CommittedTransaction | null,
  seen: Pick<SeenTransaction, 'xid' | 'marks'>,
): boolean => seen.marks === 1 && low32(xid) === seen.xid && (transaction === null || transaction.xid === xid);

const low32 = (xid: string): number => (DIGITS.test(xid) ? Number(BigInt.asUintN(32, BigInt(xid))) : -1);

const DIGITS = /^[0-9]{1,20}$/;

const ROW_KINDS = ['insert', 'update', 'delete'] as const satisfies readonly ChangeKind[];

const compareTable = (
  table: LoggedTable,
  { named, isFree }: { readonly named: SaidTable | undefined; readonly isFree: boolean },
  { mismatches, unclear }: Found,
): void => {
  if (table.replica_identity === 'nothing' && table.update + table.delete > 0) unclear.add('no_replica_identity');
  if (isFree || changesOf(table) === 0) return;
  if (named === undefined) mismatches.add('unexpected_table');
  if (table.truncate > 0 && named?.kinds.includes('truncate') !== true) mismatches.add('truncated');
  if (named === undefined) return;
  const unsaid = ROW_KINDS.filter((kind) => table[kind] > 0 && !named.kinds.includes(kind));
  if (unsaid.length > 0 && !isMove(table, named, unsaid)) mismatches.add('unexpected_kind');
};

/** A row that an UPDATE moves to another partition is a delete and an insert in the log. */
const isMove = (table: TableCounts, named: SaidTable, unsaid: readonly ChangeKind[]): boolean =>
  named.is_partitioned &&
  named.kinds.includes('update') &&
  !unsaid.includes('update') &&
  (unsaid.length === 2
    ? table.insert === table.delete
    : unsaid[0] === 'insert'
      ? table.insert <= table.delete
      : table.delete <= table.insert);

interface Said {
  readonly said: StatementSaid;
  readonly free: ReadonlySet<string>;
  readonly named: ReadonlyMap<string, SaidTable>;
}

const compareCounts = (
  { said, free, named }: Said,
  transaction: CommittedTransaction | null,
  seen: SeenTransaction,
  { mismatches }: Found,
): void => {
  if (transaction === null) return;
  const logged = new Map(seen.tables.map((table) => [table.table, table]));
  const counted = transaction.counts;
  const compared = counted === null ? [] : [...new Set([...counted.map(({ table }) => table), ...logged.keys()])];
  for (const name of compared) {
    const inLog = logged.get(name);
    // The log holds no old row of such a table, and so perhaps not the change.
    if (inLog?.replica_identity === 'nothing' || named.get(name)?.is_unpublished === true) continue;
    const before = counted?.find(({ table }) => table === name) ?? none(name);
    const isAlike = free.has(name) || !named.has(name) ? isAtMost : isEqual;
    if (!isAlike(inLog ?? none(name), before, named.get(name))) mismatches.add('row_count');
  }
  if (!doesTagAgree({ said, free }, transaction.rows, logged)) mismatches.add('row_count');
};

const none = (table: string): TableCounts => ({ table, insert: 0, update: 0, delete: 0, truncate: 0 });

/**
 * The statistics of a transaction count what triggers tried and an exception block took back, and tables that are not
 * published. So beside the named tables the log may show less, never more.
 */
const isAtMost = (inLog: TableCounts, before: TableCounts): boolean =>
  ROW_KINDS.every((kind) => inLog[kind] <= before[kind]) || before.truncate + inLog.truncate > 0;

/**
 * An INSERT with ON CONFLICT that loses a race leaves an insert and a delete in the statistics and nothing in the log.
 * TRUNCATE sets the statistics of its table to zero, so that its rows cannot be compared.
 */
const isEqual = (inLog: TableCounts, before: TableCounts, named: SaidTable | undefined): boolean => {
  if (inLog.truncate > 0) return true;
  const lost = named?.kinds.includes('insert') === true ? Math.max(0, before.delete - inLog.delete) : 0;
  return (
    before.insert - lost === inLog.insert && before.update === inLog.update && before.delete - lost === inLog.delete
  );
};

/**
 * Whether the log shows as many rows of the one table that the statement names as its command tag counted. A tag says
 * nothing of a statement that changes several tables, or whose root is a SELECT: it counts the root's rows alone.
 */
const doesTagAgree = (
  { said, free }: Pick<Said, 'said' | 'free'>,
  rows: number | null,
  logged: ReadonlyMap<string, LoggedTable>,
): boolean => {
  const [only, ...others] = said.tables;
  if (rows === null || only === undefined || others.length > 0 || !isOfRoot(said.kind, only)) return true;
  const table = logged.get(only.table);
  if (table?.replica_identity === 'nothing' || only.is_unpublished === true) return true;
  const { insert, update, delete: deleted } = table ?? none(only.table);
  const all = insert + update + deleted;
  const moved = only.is_partitioned && only.kinds.includes('update') ? Math.min(insert, deleted) : 0;
  if (free.has(only.table)) return rows <= all;
  return isPlainUpdate(only) ? rows === all - moved : rows <= all && rows >= all - moved;
};

const isPlainUpdate = ({ kinds }: SaidTable): boolean => kinds.length === 1 && kinds[0] === 'update';

/** Whether the root alone changes the table. Where another kind is said too, a common table expression changes it. */
const isOfRoot = (kind: StatementSaid['kind'], { kinds }: SaidTable): boolean => {
  switch (kind) {
    case 'insert':
      return kinds.includes('insert') && kinds.every((each) => each === 'insert' || each === 'update');
    case 'update':
    case 'delete':
      return kinds.length === 1 && kinds[0] === kind;
    case 'merge':
      return true;
    case 'select':
    case 'truncate':
      return false;
  }
};

const summaryOf = (verdict: Verdict, reasons: readonly ChangeLogReason[], seen: SeenTransaction): string => {
  const changes = changesIn(seen);
  switch (verdict) {
    case 'VERIFIED':
      return `The database’s change log shows ${changes}.`;
    case 'MISMATCH':
      return `The database’s change log does not show what was said: ${reasons.join(', ')}. It shows ${changes}.`;
    case 'UNVERIFIABLE':
      return `The database’s change log shows ${changes}, and cannot say the rest: ${reasons.join(', ')}.`;
  }
};

const NAMED_MAX = 3;
const DONE = { insert: 'inserted', update: 'updated', delete: 'deleted' } as const;

const changesIn = ({ tables, tables_left_out }: SeenTransaction): string => {
  const changed = tables.filter((table) => changesOf(table) > 0);
  const others = changed.length - NAMED_MAX + tables_left_out;
  const named = changed.slice(0, NAMED_MAX).map(changesOfTable);
  if (named.length === 0) return 'a committed transaction that changed no row';
  return named.join('; ') + (others > 0 ? `; and changes of ${others} more ${others === 1 ? 'table' : 'tables'}` : '');
};

const changesOfTable = (table: TableCounts): string => {
  const said = ROW_KINDS.filter((kind) => table[kind] > 0).map(
    (kind, index) => `${table[kind]}${index > 0 ? '' : table[kind] === 1 ? ' row' : ' rows'} ${DONE[kind]}`,
  );
  if (table.truncate > 0) said.push('all rows truncated');
  return `${said.join(', ')} in ${table.table}`;
};
