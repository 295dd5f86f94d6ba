import type { JsonObject } from '#libs/crypto';
import type { CountedBy, PartCount } from '#libs/infra/read-models';
import type { StatsDay } from './stats-window.js';

/** What the statistics can be broken down by, and the property that counts are kept by. */
export const STATS_BY = { day: 'hour', rule: 'ruleId', tool: 'tool', agent: 'agent' } as const satisfies Readonly<
  Record<string, CountedBy>
>;
export type StatsBy = keyof typeof STATS_BY;
const MEMBERS: Readonly<Record<StatsBy, string>> = { day: 'day', rule: 'rule_id', tool: 'tool', agent: 'agent' };

/** So many lines at most, those with the most actions; what is beyond is summed up. By day there are as many as there are days. */
const LINES_MAX = 100;

/** One kind of statistics: what else its actions are counted by, and how a line sums them up. */
export interface StatsKind<By extends CountedBy> {
  readonly object: string;
  readonly countedBy: readonly By[];
  readonly sums: Readonly<Record<string, (count: PartCount<By>) => boolean>>;
}

export const DECISION_STATS: StatsKind<'decision' | 'source' | 'status'> = {
  object: 'decision_stats',
  countedBy: ['decision', 'source', 'status'],
  sums: {
    allowed: ({ decision }) => decision === 'allow',
    denied: ({ decision }) => decision === 'deny',
    denied_by_budget: ({ decision, source }) => decision === 'deny' && source === 'budget',
    denied_by_stop: ({ decision, source }) => decision === 'deny' && source === 'stop',
    asked: ({ decision }) => decision === 'require_approval',
    refused_by_person: ({ decision, status }) => decision === 'require_approval' && status === 'denied',
  },
};

export const VERDICT_STATS: StatsKind<'verdict' | 'level'> = {
  object: 'verdict_stats',
  countedBy: ['verdict', 'level'],
  sums: {
    verified: ({ verdict }) => verdict === 'VERIFIED',
    verified_independently: ({ verdict, level }) => verdict === 'VERIFIED' && level !== 'L0',
    mismatch: ({ verdict }) => verdict === 'MISMATCH',
    unverifiable: ({ verdict }) => verdict === 'UNVERIFIABLE',
    not_witnessed: ({ verdict }) => verdict === null,
  },
};

interface Lines {
  readonly data: JsonObject[];
  /** What the lines left out; null where there is none. */
  readonly others: JsonObject | null;
}

/** The lines of an answer: each day, oldest first, also one without any action; else what has the most actions first. */
export const linesOf = <By extends CountedBy>(
  counts: readonly (PartCount<By> & Readonly<Record<string, unknown>>)[],
  by: StatsBy,
  { sums }: StatsKind<By>,
  days: readonly StatsDay[],
): Lines => {
  const lineOf = (members: readonly PartCount<By>[]): JsonObject => ({
    total: sumOf(members),
    ...Object.fromEntries(Object.entries(sums).map(([name, matches]) => [name, sumOf(members.filter(matches))])),
  });
  const groups = new Map<string | null, PartCount<By>[]>();
  for (const count of counts) {
    const key = keyOf(count, by, days);
    const group = groups.get(key);
    if (group) group.push(count);
    else groups.set(key, [count]);
  }
  if (by === 'day') {
    return { data: days.map((each) => ({ ...each, ...lineOf(groups.get(each.day) ?? []) })), others: null };
  }
  const ordered = [...groups].map(([key, members]) => ({ key, members, total: sumOf(members) }));
  ordered.sort((one, other) => other.total - one.total || (String(one.key) < String(other.key) ? -1 : 1));
  const rest = ordered.slice(LINES_MAX).flatMap(({ members }) => members);
  return {
    data: ordered.slice(0, LINES_MAX).map(({ key, members }) => ({ [MEMBERS[by]]: key, ...lineOf(members) })),
    others: rest.length === 0 ? null : lineOf(rest),
  };
};

/** What is counted begins within one day: an hour that a border splits is counted in parts. */
const keyOf = (count: Readonly<Record<string, unknown>>, by: StatsBy, days: readonly StatsDay[]): string | null => {
  const value = count[STATS_BY[by]] as string | null;
  if (by !== 'day') return value;
  const begins = value as string;
  return days.find(({ from, to }) => from <= begins && begins < to)?.day ?? null;
};

const sumOf = (counts: readonly { readonly actions: number }[]): number =>
  counts.reduce((sum, { actions }) => sum + actions, 0);
