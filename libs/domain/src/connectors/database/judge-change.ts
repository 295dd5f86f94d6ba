import type { JsonObject } from '#libs/crypto';

import { type ChangedRow, holdsChangePostcondition } from '../../policies/index.js';
import type { ChangeJudgement } from '../connector-driver.port.js';
import type { LoggedRow, LoggedTransaction, LoggedValue } from '../logged-transaction.js';
import type { DatabaseTool } from './database-config.js';

/**
 * Asks the postcondition of what the change log holds of a call. One that reads rows has no answer where more were changed
 * than are kept, or a table was truncated, for that leaves no rows.
 * @param args as they were judged
 */
export const judgeChange = (
  { postcondition }: Pick<DatabaseTool, 'postcondition'>,
  args: JsonObject,
  { tables, rows }: Pick<LoggedTransaction, 'tables' | 'rows'>,
): ChangeJudgement => {
  if (postcondition === undefined) return 'none';
  const count = tables.reduce((sum, table) => sum + table.insert + table.update + table.delete, 0);
  const isWhole = rows.length === count && tables.every(({ truncate }) => truncate === 0);
  const input = { args, rows: isWhole ? rows.map(changedRowOf) : null, row_count: count };
  const holds = holdsChangePostcondition(postcondition, input);
  if (holds === null) return 'unanswered';
  return holds ? 'met' : 'failed';
};

const changedRowOf = ({ table, kind, columns, old, new: after }: LoggedRow): ChangedRow => {
  const columnsOf = (values: LoggedRow['new'], before: LoggedRow['old']): ChangedRow['new'] =>
    Object.fromEntries(
      columns.flatMap(({ name }, index) => {
        const value = textOf(values?.[index] ?? null, before?.[index] ?? null);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  return { table, kind, old: columnsOf(old, null), new: columnsOf(after, old) };
};

/** A long value that the statement left alone is what it was before, where the log has that. */
const textOf = (value: LoggedValue | null, before: LoggedValue | null): string | null | undefined => {
  if (value === null) return undefined;
  if ('unchanged' in value) return before === null || 'unchanged' in before ? undefined : textOf(before, null);
  return 'null' in value ? null : value.text;
};
