import { Deployment, NOTHING_LEFT, runProgram } from '#libs/infra/deployment';
import { Worker } from './worker.js';

/** A worker process of its own: executes, recovers, seals. Settings as for the whole service (`ags config`). */
runProgram(async (config, logger, metrics) => {
  const deployment = await Deployment.openPrepared(config, 'ags worker', logger, metrics);
  const worker = new Worker(deployment);
  await worker.start();
  logger.info('worker started', { executor: deployment.executorId });
  return {
    stop: async () => {
      const executions = await worker.stop(config.drainTimeoutMs);
      await deployment.close();
      return { ...NOTHING_LEFT, executions };
    },
  };
});
