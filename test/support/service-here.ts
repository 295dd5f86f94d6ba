import { Module } from '@nestjs/common';
import type { Logger } from '#libs/domain/kernel';
import { parseConfig } from '#libs/infra/config';
import { type Deployment, InfraModule, prepareDeployment } from '#libs/infra/deployment';
import { ApiModule, ApiServer } from '../../apps/api/src/api.module.js';
import { Projector } from '../../apps/projector/src/projector.module.js';
import { Worker } from '../../apps/worker/src/worker.module.js';
import { layReadyDatabase } from './ready-database.js';
import { type Answer, type Call, callAt, removeStateDir, temporaryStateDir } from './service.js';
import { silentLogger } from './silent-logger.js';

/** The whole service in this process, its database its own, so that a test can plant in it what no outsider could. */
export interface ServiceHere {
  readonly deployment: Deployment;
  readonly baseUrl: string;
  readonly adminKey: string;
  readonly agentKey: string;
  call(method: string, path: string, call?: Call): Promise<Answer>;
  stop(): Promise<void>;
}

export const startServiceHere = async (
  env: Readonly<Record<string, string>> = {},
  logger: Logger = silentLogger,
): Promise<ServiceHere> => {
  const stateDir = await temporaryStateDir();
  await layReadyDatabase(stateDir);
  const config = parseConfig({ SERVICE_STATE_DIR: stateDir, SERVICE_PORT: '0', SERVICE_ENV: 'dev', ...env });
  const { deployment, prepared } = await prepareDeployment(config, 'ags tests', logger, () => undefined);
  const [server, worker, projector] = [new ApiServer(deployment), new Worker(deployment), new Projector(deployment)];
  await worker.start();
  await projector.start();
  const imports = [InfraModule.forRoot(deployment, worker.inlineStarter), ApiModule.forRoot(deployment, server.edge)];
  @Module({ imports })
  class StartedModule {}
  await server.listen(StartedModule);
  const { port } = server.edge.adapter.getInstance().server.address() as { port: number };
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    ...{ deployment, baseUrl, adminKey: prepared.adminKey ?? '', agentKey: prepared.agentKey ?? '' },
    call: (method, path, call = {}) => callAt(baseUrl, method, path, call),
    stop: async () => {
      await worker.stop(5_000);
      await projector.stop();
      await server.close();
      await deployment.close();
      await removeStateDir(stateDir);
    },
  };
};
