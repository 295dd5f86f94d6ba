import { Deployment, NOTHING_LEFT, runProgram } from '#libs/infra/deployment';
import { Projector } from './projector.js';

/** A projector process of its own. Settings as for the whole service (`ags config`). */
runProgram(async (config, logger, metrics) => {
  const deployment = await Deployment.openPrepared(config, 'ags projector', logger, metrics);
  const projector = new Projector(deployment);
  await projector.start();
  logger.info('projector started');
  return {
    stop: async () => {
      await projector.stop();
      await deployment.close();
      return NOTHING_LEFT;
    },
  };
});
