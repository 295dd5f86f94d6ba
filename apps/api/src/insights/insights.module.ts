import { Module } from '@nestjs/common';
import { FoldedStreams } from '#libs/domain/kernel';
import { CompiledPolicies } from '#libs/domain/policies';
import { ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { AgentRoutesModule } from '../agents/agent-routes.module.js';
import { AgentUsage } from '../agents/agent-usage.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { ActionStatsController } from './action-stats.controller.js';
import { ReadActionStatsHandler } from './action-stats.query-handler.js';
import { AttentionReader } from './attention-reader.js';
import { AttentionRows } from './attention-rows.js';
import { ConnectorsInNeed } from './connectors-in-need.js';
import { CopiedPasskeys } from './copied-passkeys.js';
import { NearBudgets } from './near-budgets.js';
import { OverviewController } from './overview.controller.js';
import { OverviewSources, ReadOverviewHandler } from './overview.query-handler.js';

/** What happened, in numbers: the overview, and decisions and verdicts over days. */
@Module({
  imports: [AgentRoutesModule, LedgerModule],
  controllers: [OverviewController, ActionStatsController],
  providers: [
    {
      provide: CompiledPolicies,
      inject: [FoldedStreams],
      useFactory: (streams: FoldedStreams) => new CompiledPolicies(streams),
    },
    NearBudgets,
    ConnectorsInNeed,
    CopiedPasskeys,
    AttentionRows,
    AttentionReader,
    {
      provide: OverviewSources,
      inject: [ReadModels, ProjectionWaiter, FoldedStreams, AgentUsage, AttentionReader],
      useFactory: (...sources: ConstructorParameters<typeof OverviewSources>) => new OverviewSources(...sources),
    },
    ReadOverviewHandler,
    ReadActionStatsHandler,
  ],
})
export class InsightsModule {}
