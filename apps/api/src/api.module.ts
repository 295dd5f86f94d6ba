import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { executionPatienceFor, sealingPatienceFor } from '#libs/domain/gate';
import { ONLY_STREAM, streamRef, timestampOf } from '#libs/domain/kernel';
import { nextSeal, sealKeyDecider } from '#libs/domain/ledger';
import { checkpointsOf, type CheckpointParts, type Deployment } from '#libs/infra/deployment';
import { freeBytesAt } from '#libs/infra/runtime';
import { PROJECTION_NAMES, READ_YOUR_WRITES_TIMEOUT_MS } from '#libs/infra/read-models';
import { AgentRoutesModule } from './agents/agent-routes.module.js';
import { AgentsModule } from './agents/agents.module.js';
import { ApprovalsModule } from './approvals/approvals.module.js';
import { ConsoleModule } from './console/console.module.js';
import { ConnectorsModule } from './connectors/connectors.module.js';
import { EventsModule } from './events/events.module.js';
import { GateModule } from './gate/gate.module.js';
import {
  checkpointsCheck,
  databaseCheck,
  diskCheck,
  eventStoreCheck,
  executionsCheck,
  projectionsCheck,
  sealingCheck,
  signInCheck,
  type HealthCheck,
} from './health/health-check.js';
import { HealthModule } from './health/health.module.js';
import { HttpEdgeModule } from './http/http-edge.module.js';
import type { HttpEdge } from './http/http-edge.js';
import { InsightsModule } from './insights/insights.module.js';
import { LedgerModule } from './ledger/ledger.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { ErrorPagesController } from './pages/error-pages.controller.js';
import { PeopleModule, SessionModule } from './people/people.module.js';
import { VerifierController } from './pages/verifier.controller.js';
import { SignInPagesController } from './pages/sign-in/sign-in-pages.controller.js';
import { PoliciesModule } from './policies/policies.module.js';
import { ReplaysModule } from './replays/replays.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

export { ApiServer } from './api-server.js';

/** Every context's edge. */
@Module({})
export class ApiModule {
  static forRoot(deployment: Deployment, edge: HttpEdge): DynamicModule {
    const { logger, clock } = deployment;
    return {
      module: ApiModule,
      imports: [
        CqrsModule.forRoot(),
        HttpEdgeModule.forRoot({ edge, logger, imports: [AgentsModule, SessionModule] }),
        HealthModule.forRoot({
          checks: healthChecksOf(deployment, checkpointsOf(deployment)),
          clock,
          logger,
          docsUrl: deployment.config.docsUrl,
        }),
        AgentsModule,
        AgentRoutesModule,
        GateModule,
        ApprovalsModule,
        LedgerModule,
        ConnectorsModule,
        PoliciesModule,
        ReplaysModule,
        WebhooksModule,
        PeopleModule,
        InsightsModule,
        EventsModule,
        McpModule.forRoot({ origins: deployment.config.mcpOrigins, docsUrl: deployment.config.docsUrl }),
        ConsoleModule.forRoot({ showsKit: deployment.config.env === 'dev' }),
      ],
      controllers: [OpenApiController, ErrorPagesController, SignInPagesController, VerifierController],
    };
  }
}

const healthChecksOf = (
  {
    config: { databaseUrl, stateDir },
    database: { durable, store },
    clock,
    projectionProgress,
    streams,
    sealerProgress,
    unsealed,
    unfinished,
    liveness,
    gateSettings,
    people,
  }: Deployment,
  { broken, keys }: Pick<CheckpointParts, 'broken' | 'keys'>,
): readonly HealthCheck[] => [
  databaseCheck(durable),
  eventStoreCheck(store),
  // Another machine's disk is that machine's to watch.
  ...(databaseUrl === null ? [diskCheck(stateDir, () => freeBytesAt(stateDir))] : []),
  projectionsCheck({
    store,
    projected: async (position, timeoutMs) => {
      const reached = PROJECTION_NAMES.map((name) => projectionProgress.reach(name, position, timeoutMs));
      return (await Promise.all(reached)).reduce((slowest, next) => (next < slowest ? next : slowest));
    },
    patienceMs: READ_YOUR_WRITES_TIMEOUT_MS,
    clock,
  }),
  executionsCheck({
    isExecutorThere: () => liveness.isAnyBeating(executionPatienceFor(gateSettings)),
    head: () => store.head(),
    unfinished,
    patienceMs: executionPatienceFor(gateSettings),
    clock,
  }),
  sealingCheck({
    hasActiveKey: async () => {
      const { state } = await streams.load(streamRef(sealKeyDecider, ONLY_STREAM));
      return nextSeal(state, timestampOf(clock.nowMs())) !== null;
    },
    parked: () => sealerProgress.parked(),
    head: () => store.head(),
    unsealed,
    patienceMs: sealingPatienceFor(gateSettings.sweepIntervalMs),
    clock,
  }),
  checkpointsCheck(broken, keys),
  signInCheck(people.misses, clock),
];
