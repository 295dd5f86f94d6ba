import { Module } from '@nestjs/common';
import { QueuedExecutionStarter } from '#libs/domain/gate';
import { Deployment, InfraModule, NOTHING_LEFT, runProgram } from '#libs/infra/deployment';
import { ApiModule } from './api.module.js';
import { ApiServer } from './api-server.js';

/** An api process of its own: it accepts, and a worker executes. Settings as for the whole service (`ags config`). */
runProgram(async (config, logger, metrics) => {
  const deployment = await Deployment.openPrepared(config, 'ags api', logger, metrics);
  const server = new ApiServer(deployment);
  const starter = new QueuedExecutionStarter(deployment.queueOfOthers, logger);
  @Module({
    imports: [InfraModule.forRoot(deployment, starter), ApiModule.forRoot(deployment, server.edge)],
  })
  class ApiProcessModule {}
  logger.info('api started', { base_url: await server.listen(ApiProcessModule) });
  return {
    stop: async () => {
      await server.announceStop();
      const requests = await server.drain(config.drainTimeoutMs);
      await server.close();
      await deployment.close();
      return { ...NOTHING_LEFT, requests };
    },
  };
});
