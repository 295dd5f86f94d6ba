import type { JsonObject } from '#libs/crypto';
import type { ActionCount } from '#libs/infra/read-models';
import type { WindowBounds } from './overview-window.js';

/** What the overview counts actions by. */
export const OVERVIEW_BY = ['hour', 'decision', 'source', 'status', 'verdict'] as const;
export type OverviewCount = ActionCount<(typeof OVERVIEW_BY)[number]>;

/** The sums of one window, as `overview` and its `previous` show them. Counts of other hours are left out. */
export const totalsOf = (counts: readonly OverviewCount[], { from, to }: WindowBounds) => {
  const within = counts.filter(({ hour }) => from <= hour && hour < to);
  const sum = (matches: (count: OverviewCount) => boolean): number => sumOf(within.filter(matches));
  const blocked = (matches: (source: string | null) => boolean): number =>
    sum((count) => isBlocked(count) && matches(count.source));
  return {
    actions: {
      total: sumOf(within),
      executed: sum(({ status }) => status === 'executed'),
      failed: sum(({ status }) => status === 'failed'),
      expired: sum(({ status }) => status === 'expired'),
      cancelled: sum(({ status }) => status === 'cancelled'),
    },
    blocked: {
      total: blocked(() => true),
      policy: blocked((source) => source !== 'budget' && source !== 'stop'),
      budget: blocked((source) => source === 'budget'),
      stop: blocked((source) => source === 'stop'),
    },
    verdicts: {
      verified: sum(({ verdict }) => verdict === 'VERIFIED'),
      mismatch: sum(({ verdict }) => verdict === 'MISMATCH'),
      unverifiable: sum(({ verdict }) => verdict === 'UNVERIFIABLE'),
      not_witnessed: sum(({ verdict }) => verdict === null),
    },
  } satisfies JsonObject;
};

/** All actions of each bucket, and those of them that were refused; a bucket without any says 0. */
export const bucketsOf = (counts: readonly OverviewCount[], { starts, to }: WindowBounds): JsonObject[] =>
  starts.map((start, index) => {
    const end = starts[index + 1] ?? to;
    const within = counts.filter(({ hour }) => start <= hour && hour < end);
    return { start, total: sumOf(within), blocked: sumOf(within.filter(isBlocked)) };
  });

/**
 * A decision `deny`, by policy, budget or Stop. What a person denied had been asked for, and is not meant
 * (rule INSIGHT-2).
 */
const isBlocked = ({ decision }: OverviewCount): boolean => decision === 'deny';

const sumOf = (counts: readonly OverviewCount[]): number => counts.reduce((sum, { actions }) => sum + actions, 0);
