import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { Clock, type OrgId } from '#libs/domain/kernel';
import { type CountedBy, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { linesOf, STATS_BY, type StatsBy, type StatsKind } from './action-stats.js';
import type { ReadAnswer } from './overview.query-handler.js';
import { type StatsWindow, statsWindowAt } from './stats-window.js';

export interface AskedStats {
  readonly window: StatsWindow;
  readonly by: StatsBy;
}

/** GET /v1/insights/decisions and /verdicts: what became of the actions of some days. */
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
    private readonly clock: Clock,
  ) {}

  async execute({ org, kind, asked: { window, by } }: ReadActionStats<CountedBy>): Promise<ReadAnswer> {
    const { lagEvents } = await this.waiter.catchUp(['actions']);
    const { from, to, days } = statsWindowAt(window, this.clock.nowMs());
    const counts = await this.readModels.counted(org, { from, to }, [STATS_BY[by], ...kind.countedBy]);
    const answer = { object: kind.object, window, from, to, by, ...linesOf(counts, by, kind, days) };
    return { answer, lagEvents };
  }
}
