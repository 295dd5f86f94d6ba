import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { Clock, FoldedStreams, type OrgId, streamRef } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { type CountedBy, type PartCount, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { linesOf, STATS_BY, type StatsBy, type StatsKind } from './action-stats.js';
import type { ReadAnswer } from './overview.query-handler.js';
import { countedSpans, type StatsBounds, type StatsWindow, statsWindowAt } from './stats-window.js';

export interface AskedStats {
  readonly window: StatsWindow;
  readonly by: StatsBy;
}

/** GET /v1/insights/decisions and /verdicts: what became of the actions of some days, as the organization counts days. */
export class ReadActionStats<By extends CountedBy> extends Query<ReadAnswer> {
  constructor(
    readonly org: OrgId,
    readonly kind: StatsKind<By>,
    readonly asked: AskedStats,
  ) {
    super();
  }
}

@QueryHandler(ReadActionStats)
export class ReadActionStatsHandler implements IQueryHandler<ReadActionStats<CountedBy>> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
    private readonly streams: FoldedStreams,
    private readonly clock: Clock,
  ) {}

  async execute({ org, kind, asked: { window, by } }: ReadActionStats<CountedBy>): Promise<ReadAnswer> {
    const { lagEvents } = await this.waiter.catchUp(['actions']);
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    const timezone = state.status === 'none' ? 'UTC' : state.timezone;
    const bounds = statsWindowAt(window, timezone, this.clock.nowMs());
    const counts = await this.counted(org, bounds, by, kind.countedBy);
    const { from, to, days } = bounds;
    const answer = { object: kind.object, window, timezone, from, to, by, ...linesOf(counts, by, kind, days) };
    return { answer, lagEvents };
  }

  /** Whole hours from their counts, and what a border leaves of one from the actions themselves. */
  private async counted(
    org: OrgId,
    bounds: StatsBounds,
    by: StatsBy,
    kindBy: readonly CountedBy[],
  ): Promise<readonly PartCount<CountedBy>[]> {
    const { whole, splitHours, parts } = countedSpans(bounds, by === 'day');
    const countedBy = [STATS_BY[by], ...kindBy];
    const [hours, rest] = await Promise.all([
      this.readModels.counted(org, whole, countedBy),
      parts.length === 0 ? [] : this.readModels.countedInParts(org, parts, countedBy),
    ]);
    return [...hours.filter(({ hour }) => !splitHours.has(hour)), ...rest];
  }
}
