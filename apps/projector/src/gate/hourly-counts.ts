import { digestOf } from '#libs/crypto';
import { statusOf, type LivingAction } from '#libs/domain/gate';
import { timestampOf } from '#libs/domain/kernel';
import { HourlyCountRow } from '#libs/infra/read-models';
import type { ProjectedRows } from '../projection.js';

const HOUR_MS = 3_600_000;

/** All that an action is counted by. */
type Counted = Omit<HourlyCountRow, 'id' | 'actions'>;

/** An action before a batch of events and after it; null where it was not there yet. */
export interface CountedChange {
  readonly before: Counted | null;
  readonly after: Counted | null;
}

export const countedAs = (action: LivingAction, isSealed: boolean): Counted => ({
  org: action.submission.org,
  hour: timestampOf(Math.floor(Date.parse(action.createdAt) / HOUR_MS) * HOUR_MS),
  agent: action.submission.agent,
  tool: action.submission.tool,
  decision: action.decision?.outcome ?? null,
  source: action.decision?.source ?? null,
  ruleId: action.decision?.rule_id ?? null,
  status: statusOf(action, isSealed),
  execution: action.outcome?.status ?? null,
  verdict: action.witness?.verdict ?? null,
  level: action.witness?.level ?? null,
});

/**
 * Moves each action from where it counted to where it counts now. The rows are sums over the actions as they stand, so they
 * do not depend on how the log is cut into batches.
 */
export const moveCounts = async (rows: ProjectedRows, changes: readonly CountedChange[]): Promise<void> => {
  const moved = differences(changes);
  if (moved.size === 0) return;
  const known = await rows.select(HourlyCountRow, moved.keys());
  const before = new Map(known.map(({ id, actions }) => [id, actions]));
  const counts = [...moved].map(([id, { counted, by }]) => rowOf(counted, id, by + (before.get(id) ?? 0)));
  await rows.upsert(
    HourlyCountRow,
    counts.filter(({ actions }) => actions !== 0),
  );
  await rows.remove(
    HourlyCountRow,
    counts.filter(({ actions }) => actions === 0).map(({ id }) => id),
  );
};

interface Difference {
  readonly counted: Counted;
  readonly by: number;
}

/** By how many actions each row changes, by its id; rows that stay as they are are left out. */
const differences = (changes: readonly CountedChange[]): ReadonlyMap<string, Difference> => {
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

/** Member by member: a copy by `...` makes V8 a hidden class for each action (docs/performance.md). */
const rowOf = (counted: Counted, id: string, actions: number): HourlyCountRow => ({
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
});

/** Of values that hold whatever callers sent, a digest: short, and the same at every rebuild. */
const idOf = (counted: Counted): string =>
  digestOf(
    JSON.stringify([
      counted.org,
      counted.hour,
      counted.agent,
      counted.tool,
      counted.decision,
      counted.source,
      counted.ruleId,
      counted.status,
      counted.execution,
      counted.verdict,
      counted.level,
    ]),
  );
