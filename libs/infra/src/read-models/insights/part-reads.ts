import type { LivingAction } from '#libs/domain/gate';
import { countedFacts } from '#libs/domain/insights';
import type { ActionId, OrgId, Timestamp } from '#libs/domain/kernel';
import type { DataSource } from 'typeorm';
import { storedText } from '../columns.js';
import { ActionRow, type ListedActionState } from '../gate/action.row.js';
import type { HourlyCountRow } from './hourly-count.row.js';
import type { CountedBy, CountedPeriod } from './hourly-reads.js';

/**
 * So many actions have these values. `hour` is the first instant of the part that they were counted in. `source` and `status`
 * are told of actions that were denied or put to people, and null of all others.
 */
export type PartCount<By extends CountedBy> = {
  readonly [Member in By]: HourlyCountRow[Member] | null;
} & { readonly actions: number };

/** Rows read at once where what was folded is needed: some 2 KB each. */
const PAGE = 1_000;

/** What of a count no column of an action has: it is in what was folded. */
const FOLDED: ReadonlySet<CountedBy> = new Set(['source', 'status']);

/**
 * Counts the actions of parts of hours, of which hourly counts know nothing, one by one. Costs a step for each action, and
 * reads what was folded of those that were denied or put to people where `source` or `status` is asked for.
 */
export const countedInParts = async <By extends CountedBy>(
  source: DataSource,
  org: OrgId,
  parts: readonly CountedPeriod[],
  by: readonly By[],
): Promise<readonly PartCount<By>[]> => {
  const counts: PartCount<By>[] = [];
  const isFolded = by.some((name) => FOLDED.has(name));
  for (const part of parts) {
    counts.push(...(await countedByColumns(source, org, part, by, isFolded ? ALLOWED : ANY)));
    if (isFolded) counts.push(...(await countedByFolds(source, org, part, by)));
  }
  return counts;
};

const ANY = 'TRUE';
const ALLOWED = `(decision IS NULL OR decision = 'allow')`;
/** As the index says it (read-model-source.ts), and so that a part has every action, whatever outcomes there are. */
const OTHERS = `decision <> 'allow'`;
const WITHIN = 'org = $1 AND created_at >= $2::timestamptz AND created_at < $3::timestamptz';

const countedByColumns = async <By extends CountedBy>(
  source: DataSource,
  org: OrgId,
  { from, to }: CountedPeriod,
  by: readonly By[],
  condition: string,
): Promise<readonly PartCount<By>[]> => {
  const { tablePath, columns } = source.getMetadata(ActionRow);
  const known = columns.filter(({ propertyName }) => (by as readonly string[]).includes(propertyName));
  const names = known.map(({ databaseName }) => databaseName);
  const grouped = names.length === 0 ? '' : `GROUP BY ${names.join(', ')}`;
  const rows = await source.query<Readonly<Record<string, unknown>>[]>(
    `SELECT ${[...names, 'count(*)::bigint AS actions'].join(', ')} FROM ${tablePath} ` +
      `WHERE ${WITHIN} AND ${condition} ${grouped} HAVING count(*) > 0`,
    [storedText(org), from, to],
  );
  return rows.map((row) => {
    const values = known.map(({ propertyName, databaseName }) => [propertyName, row[databaseName]]);
    const told = { source: null, status: null, ...Object.fromEntries(values), hour: from } as Readonly<
      Record<CountedBy, unknown>
    >;
    return countOf(told, by, Number(row['actions']));
  });
};

interface FoldedRow {
  readonly id: ActionId;
  readonly created_at: Date;
  readonly state: ListedActionState;
  readonly folded: string;
}

const countedByFolds = async <By extends CountedBy>(
  source: DataSource,
  org: OrgId,
  { from, to }: CountedPeriod,
  by: readonly By[],
): Promise<readonly PartCount<By>[]> => {
  const { tablePath } = source.getMetadata(ActionRow);
  const counts = new Map<string, PartCount<By>>();
  let after: readonly [at: Timestamp, id: string] = [from, ''];
  for (;;) {
    const rows = await source.query<FoldedRow[]>(
      `SELECT id, created_at, state, folded FROM ${tablePath} WHERE ${WITHIN} AND ${OTHERS} ` +
        `AND (created_at, id) > ($4::timestamptz, $5) ORDER BY created_at, id LIMIT ${PAGE}`,
      [storedText(org), from, to, ...after],
    );
    for (const { state, folded } of rows) {
      const count = countOf(toldBy(JSON.parse(folded) as LivingAction, state === 'sealed', from), by, 1);
      const key = JSON.stringify(by.map((name) => count[name]));
      counts.set(key, { ...count, actions: (counts.get(key)?.actions ?? 0) + 1 });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return [...counts.values()];
    after = [last.created_at.toISOString(), last.id];
  }
};

/** As the projection counts it by the hour. */
const toldBy = (action: LivingAction, isSealed: boolean, hour: Timestamp): Readonly<Record<CountedBy, unknown>> => ({
  hour,
  ...countedFacts(action, isSealed),
  tool: storedText(action.submission.tool),
});

const countOf = <By extends CountedBy>(
  told: Readonly<Record<CountedBy, unknown>>,
  by: readonly By[],
  actions: number,
): PartCount<By> => ({ ...Object.fromEntries(by.map((name) => [name, told[name]])), actions }) as PartCount<By>;
