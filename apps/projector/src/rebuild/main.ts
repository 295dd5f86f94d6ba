import { parseConfig } from '#libs/infra/config';
import { Deployment, textForOperator } from '#libs/infra/deployment';
import { PinoLogger } from '#libs/infra/logging';
import { PROJECTION_NAMES, type ProjectionName, type RebuildReport } from '#libs/infra/read-models';
import { untilInterrupted } from '#libs/infra/runtime';
import { rebuildProjections } from './rebuild-projections.js';

/**
 * `ags projections rebuild` as a program of the projector, which alone knows the folds: names as arguments, none for all;
 * settings as for the service; a {@link RebuildReport} a line. Exit code 1 when something is not rebuilt; an interrupted one leaves nothing behind.
 */
const main = async (interrupted: AbortSignal): Promise<void> => {
  const names = process.argv.slice(2) as ProjectionName[];
  const wanted = PROJECTION_NAMES.filter((name) => names.length === 0 || names.includes(name));
  const logger = new PinoLogger({ level: 'warn', format: 'text', destination: process.stderr });
  const deployment = await Deployment.open(parseConfig(), 'ags rebuild', logger);
  let isDone = true;
  try {
    const report = (said: RebuildReport): void => {
      isDone &&= said.type === 'progress' || said.type === 'rebuilt';
      process.stdout.write(`${JSON.stringify(said)}\n`);
    };
    await rebuildProjections(deployment, wanted, report, interrupted);
  } finally {
    await deployment.close();
  }
  process.exitCode = isDone ? 0 : 1;
};

untilInterrupted(main).catch((error: unknown) => {
  process.stderr.write(`${textForOperator(error)}\n`);
  process.exitCode = 1;
});
