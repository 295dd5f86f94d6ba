import { parseConfig } from '#libs/infra/config';
import { Deployment, textForOperator } from '#libs/infra/deployment';
import { PinoLogger } from '#libs/infra/logging';
import { PROJECTION_NAMES, type ProjectionName, type RebuildReport, type RebuildTask } from '#libs/infra/read-models';
import { untilInterrupted } from '#libs/infra/runtime';
import { rebuildProjections } from './rebuild-projections.js';

const UNDONE: readonly RebuildReport['type'][] = ['failed', 'incomplete', 'interrupted', 'busy'];

/**
 * `ags projections rebuild` and `verify` as a program of the projector, which alone knows the folds: the task and names as
 * arguments, no name for all; settings as for the service; a {@link RebuildReport} a line. Exit code 1 when a
 * report says that something is not done, whatever a verification finds, and 2 when it ended before it could say so; an
 * interrupted one leaves nothing behind.
 */
const main = async (interrupted: AbortSignal): Promise<void> => {
  const [task, ...given] = process.argv.slice(2) as [RebuildTask, ...ProjectionName[]];
  const names = PROJECTION_NAMES.filter((name) => given.length === 0 || given.includes(name));
  const logger = new PinoLogger({ level: 'warn', format: 'text', destination: process.stderr });
  const deployment = await Deployment.open(parseConfig(), 'ags rebuild', logger);
  let isDone = true;
  try {
    const report = (said: RebuildReport): void => {
      isDone &&= !UNDONE.includes(said.type);
      process.stdout.write(`${JSON.stringify(said)}\n`);
    };
    await rebuildProjections(deployment, { task, names }, report, interrupted);
  } finally {
    await deployment.close();
  }
  process.exitCode = isDone ? 0 : 1;
};

// Whoever asked for it is gone, killed perhaps: the tables that were made are dropped.
process.stdout.on('error', () => process.kill(process.pid, 'SIGTERM'));
process.stderr.on('error', () => undefined);

untilInterrupted(main).catch((error: unknown) => {
  process.stderr.write(`${textForOperator(error)}\n`);
  process.exitCode = 2;
});
