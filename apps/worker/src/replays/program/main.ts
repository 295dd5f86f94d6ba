import { constants, setPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseId } from '#libs/domain/kernel';
import { CompiledPolicies } from '#libs/domain/policies';
import { runReplay } from '#libs/domain/replays';
import { parseConfig } from '#libs/infra/config';
import { Deployment, textForOperator } from '#libs/infra/deployment';
import type { LeaseSession } from '#libs/infra/leases';
import { PinoLogger } from '#libs/infra/logging';
import { claimOf, PostgresRecordedCalls, PostgresReplayWork } from '#libs/infra/replays';
import { untilInterrupted } from '#libs/infra/runtime';

/**
 * Runs the replay whose id is the only argument, and ends; settings as for the service. Nothing is left to do in it when the
 * exit code is 0: it has ended, or was handed on with all that was done. Its claim is one lease, so a second process for the
 * same replay waits for the first.
 */
const main = async (interrupted: AbortSignal): Promise<void> => {
  const id = parseId('rpl', process.argv[2]);
  if (id === null) throw new Error('The one argument is the id of a replay, rpl_ and 26 characters.');
  const logger = new PinoLogger({ level: 'warn', format: 'text', destination: process.stderr });
  const deployment = await Deployment.open(parseConfig(), 'ags replay', logger);
  const { database, leases, streams, clock } = deployment;
  const parts = {
    calls: new PostgresRecordedCalls(database.relaxed),
    policies: new CompiledPolicies(streams),
    clock,
    pause: () => nextTurn(),
  };
  const ended = new AbortController();
  const run = async (held: AbortSignal, session: LeaseSession): Promise<void> => {
    try {
      await runReplay(parts, new PostgresReplayWork(session, id), held);
    } catch (error) {
      complain(error);
      process.exitCode = 1;
    } finally {
      ended.abort();
    }
  };
  try {
    // A claim that cannot be asked for at the moment is asked for again.
    await leases.hold(claimOf(id), AbortSignal.any([interrupted, ended.signal]), run, complain);
  } finally {
    await deployment.close();
  }
};

const complain = (error: unknown): void => void process.stderr.write(`${textForOperator(error)}\n`);

// The calls that people wait for come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// Whoever asked for it is gone, killed perhaps: another goes on from what was saved.
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
process.stderr.on('error', () => undefined);

untilInterrupted(main)
  .catch((error: unknown) => {
    complain(error);
    process.exitCode = 2;
  })
  // An open input would keep the process.
  .finally(() => process.stdin.destroy());
