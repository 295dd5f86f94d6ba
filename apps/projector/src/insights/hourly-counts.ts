import { digestOf } from '#libs/crypto';
import type { LivingAction } from '#libs/domain/gate';
import { countedFacts } from '#libs/domain/insights';
import { timestampOf } from '#libs/domain/kernel';
import { HourlyCountRow, HourlyTotalRow, type RowType } from '#libs/infra/read-models';
import type { ProjectedRows } from '../projection.js';

const HOUR_MS = 3_600_000;

/** The facts by which an action is counted. */
type Counted = Omit<HourlyCountRow, 'id' | 'actions'>;

/** An action's facts before and after a batch of events; null if it did not exist. */
export interface CountedChange {
  readonly before: Counted | null;
  readonly after: Counted | null;
}

export const countedAs = (action: LivingAction, isSealed: boolean): Counted => ({
  org: action.submission.org,
  hour: timestampOf(Math.floor(Date.parse(action.createdAt) / HOUR_MS) * HOUR_MS),
  ...countedFacts(action, isSealed),
});

/** One table of sums: how a row's id and the row itself are made from an action's facts. */
interface Sums<Row extends { readonly id: string; readonly actions: number }> {
  readonly rowType: RowType<Row>;
  readonly idOf: (counted: Counted) => string;
  /**
   * Written member by member: a spread would give each object a hidden class of its own in V8 (docs/performance.md).
   */
  readonly rowOf: (counted: Counted, id: string, actions: number) => Row;
}

/**
 * Moves each changed action from its old row to its new one. The rows are sums over the current actions, so they do not
 * depend on how the log is split into batches.
 */
export const moveCounts = async (rows: ProjectedRows, changes: readonly CountedChange[]): Promise<void> => {
  await move(rows, COUNTS, changes);
  await move(rows, TOTALS, changes);
};

const move = async <Row extends { readonly id: string; readonly actions: number }>(
  rows: ProjectedRows,
  sums: Sums<Row>,
  changes: readonly CountedChange[],
): Promise<void> => {
  const moved = differences(sums, changes);
  if (moved.size === 0) return;
  const known = await rows.select(sums.rowType, moved.keys());
  const before = new Map(known.map(({ id, actions }) => [id, actions]));
  const counts = [...moved].map(([id, { counted, by }]) => sums.rowOf(counted, id, by + (before.get(id) ?? 0)));
  await rows.upsert(
    sums.rowType,
    counts.filter(({ actions }) => actions !== 0),
  );
  await rows.remove(
    sums.rowType,
    counts.filter(({ actions }) => actions === 0).map(({ id }) => id),
  );
};

interface Difference {
  readonly counted: Counted;
  readonly by: number;
}

/** By how many actions each row changes, by row id; unchanged rows are left out. */
const differences = (
  { idOf }: Pick<Sums<never>, 'idOf'>,
  changes: readonly CountedChange[],
): ReadonlyMap<string, Difference> => {
  const moved = new Map<string, Difference>();
  const add = (counted: Counted | null, actions: number): void => {
    if (counted === null) return;
    const id = idOf(counted);
    moved.set(id, { counted, by: (moved.get(id)?.by ?? 0) + actions });
  };
  for (const { before, after } of changes) {
    add(before, -1);
    add(after, 1);
  }
  return new Map([...moved].filter(([, { by }]) => by !== 0));
};

/**
 * A digest over the values, as row id: it is short even if callers sent long values, and the same after every rebuild.
 */
const digestOfAll = (...values: readonly (string | null)[]): string => digestOf(JSON.stringify(values));

const COUNTS: Sums<HourlyCountRow> = {
  rowType: HourlyCountRow,
  idOf: ({ org, hour, agent, tool, decision, source, ruleId, status, execution, verdict, level }) =>
    digestOfAll(org, hour, agent, tool, decision, source, ruleId, status, execution, verdict, level),
  rowOf: (counted, id, actions) => ({
    id,
    org: counted.org,
    hour: counted.hour,
    agent: counted.agent,
    tool: counted.tool,
    decision: counted.decision,
    source: counted.source,
    ruleId: counted.ruleId,
    status: counted.status,
    execution: counted.execution,
    verdict: counted.verdict,
    level: counted.level,
    actions,
  }),
};

const TOTALS: Sums<HourlyTotalRow> = {
  rowType: HourlyTotalRow,
  idOf: ({ org, hour, decision, source, status, verdict }) => digestOfAll(org, hour, decision, source, status, verdict),
  rowOf: (counted, id, actions) => ({
    id,
    org: counted.org,
    hour: counted.hour,
    decision: counted.decision,
    source: counted.source,
    status: counted.status,
    verdict: counted.verdict,
    actions,
  }),
};
