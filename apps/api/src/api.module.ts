import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Deployment } from '#libs/infra/deployment';
import { AgentsModule } from './agents/agents.module.js';
import { GateModule } from './gate/gate.module.js';
import { HttpEdgeModule } from './http/http-edge.module.js';
import type { HttpEdge } from './http/http-edge.js';
import { SealKeysController } from './ledger/seal-keys.controller.js';

export { ApiServer } from './api-server.js';

/** Every context's edge. */
@Module({})
export class ApiModule {
  static forRoot(deployment: Deployment, edge: HttpEdge): DynamicModule {
    return {
      module: ApiModule,
      imports: [
        CqrsModule.forRoot(),
        HttpEdgeModule.forRoot({ edge, logger: deployment.logger, imports: [AgentsModule] }),
        AgentsModule,
        GateModule,
      ],
      controllers: [SealKeysController],
    };
  }
}
