import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentWith, parseConfig } from '#libs/infra/config';
import { prepareDeployment, type Prepared } from '#libs/infra/deployment';
import { PinoLogger } from '#libs/infra/logging';
import { EXIT, explain } from '../cli-error.js';
import { processTerminal } from '../terminal.js';
import { twoPeople } from './approval-scene.js';
import { usedUp } from './budget-scene.js';
import { exportAndVerify } from './bundle-scene.js';
import { Closing } from './closing.js';
import { witnessedDatabase } from './database-scene.js';
import { showConsole } from './console/console-demo.js';
import { CustomerRecords } from './customer-records.js';
import { atTheEdge } from './edge-scene.js';
import { heldTool } from './held-scene.js';
import { PaymentsProcessor } from './payments-processor.js';
import { refunds } from './refund-scene.js';
import {
  allowedRead,
  allowedWrite,
  contradictedWrite,
  crash,
  deniedDelete,
  sameKeyTwice,
  stopAll,
  unknownTool,
} from './scenes.js';
import { ScratchService } from './scratch-service.js';
import { furnish, type Stage } from './stage.js';
import { Story } from './story.js';
import { TicketServer } from './ticket-server.js';

const MS_PER_SECOND = 1_000;
/** As a shell reports a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Recovery waits 5 s and 5 s by default; nobody wants to watch that. */
const settingsOf = (stateDir: string): Readonly<Record<string, string>> => ({
  SERVICE_STATE_DIR: stateDir,
  SERVICE_PORT: '0',
  SERVICE_DEMO: 'on',
  SERVICE_SWEEP_INTERVAL_MS: '250',
  SERVICE_EXECUTOR_SILENCE_MS: '2000',
  LOG_LEVEL: 'warn',
});

const terminal = processTerminal();

const HELP = `Usage: npm run demo [-- --console]

Plays what happens between an agent and its tools, on a scratch service that is
gone afterwards, and checks every claim it makes. Leaves other deployments alone.

  --console  instead, fills a scratch service with two weeks of an invented company,
             prints a link to its Console, and goes on until Ctrl-C

Exit codes:
  0    all is as it says
  1    something is not; its folder is kept
  2    it was given an argument
  130  it was interrupted
`;

/** `npm run demo`: a scratch service, a real upstream, and what happens between an agent and its tools. */
const main = async (): Promise<number> => {
  const startedAt = performance.now();
  const { folder, closing } = await scratchFolder();
  const story = new Story(terminal);
  const problem = await played(story, folder, closing);
  if (closing.isRunning) return INTERRUPTED;
  const isAsItSays = problem === null && story.failures.length === 0;
  // The folder is the evidence of a failure.
  await closing.run({ isFirstKept: !isAsItSays });
  if (isAsItSays) {
    const seconds = Math.round((performance.now() - startedAt) / MS_PER_SECOND);
    terminal.out(`\n  All ${story.claimCount} claims were checked and are so. ${seconds} s.\n\n`);
    return 0;
  }
  const why = problem === null ? story.failures.join('\n') : wordsOf(problem);
  terminal.err(`\nThe demo is not as it says:\n${why}\nThe scratch service and its log are in ${folder}\n`);
  return 1;
};

/** Until it is interrupted. */
const mainOfConsole = async (): Promise<number> => {
  const { folder, closing } = await scratchFolder();
  const environment = environmentWith({
    ...settingsOf(join(folder, 'state')),
    SERVICE_DEMO: 'off',
    LOG_LEVEL: 'error',
  });
  try {
    return await showConsole({ terminal, closing, environment, logFile: join(folder, 'service.log') });
  } catch (error) {
    if (closing.isRunning) return INTERRUPTED;
    await closing.run({ isFirstKept: true });
    terminal.err(`\n${wordsOf(error)}\nThe scratch service and its log are in ${folder}\n`);
    return 1;
  }
};

/** Where all of a demo lies, and what ends with it: also when it is interrupted. */
const scratchFolder = async (): Promise<{ readonly folder: string; readonly closing: Closing }> => {
  const folder = await mkdtemp(join(tmpdir(), 'ags-demo-'));
  // Under root the database has a user of its own, which must pass through.
  if (process.getuid?.() === 0) await chmod(folder, 0o711);
  const closing = new Closing();
  closing.add(() => rm(folder, { recursive: true, force: true }));
  const onSignal = (): void => void closing.run().finally(() => process.exit(INTERRUPTED));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, onSignal);
  return { folder, closing };
};

/** What broke off the play; null when it went to its end. */
const played = async (story: Story, folder: string, closing: Closing): Promise<unknown> => {
  try {
    await play(story, folder, closing);
    return null;
  } catch (error) {
    return error;
  }
};

const wordsOf = (problem: unknown): string => {
  if (!(problem instanceof Error)) return String(problem);
  return explain(problem)?.message ?? problem.stack ?? problem.message;
};

const play = async (story: Story, folder: string, closing: Closing): Promise<void> => {
  const settings = settingsOf(join(folder, 'state'));
  story.opening(
    'Agent Governance Service',
    'A scratch service, a customer-records API that wants a token, an MCP server, a payments sandbox. Policy: all allowed, deletes denied.',
  );
  const logger = new PinoLogger({
    level: 'warn',
    format: 'text',
    destination: { write: (line) => terminal.err(line) },
  });
  const preparation = prepareDeployment(parseConfig(settings), 'ags demo', logger, () => undefined);
  // As the last user of the embedded database it stops it. One that failed has closed itself.
  closing.add(async () => (await preparation.catch(() => null))?.deployment.close());
  const { prepared } = await preparation;
  // Interrupted meanwhile: what would be opened now, nobody would close.
  if (closing.isRunning) return;
  const records = new CustomerRecords();
  closing.add(() => records.close());
  const tickets = new TicketServer();
  closing.add(() => tickets.close());
  const processor = new PaymentsProcessor();
  closing.add(() => processor.close());
  const service = new ScratchService(environmentWith(settings), join(folder, 'service.log'));
  closing.add(() => service.stop());
  await service.start();
  const stage: Stage = { story, service, records, tickets, processor, prepared, folder, ...secretsOf(prepared) };
  const urls = { records: await records.open(), tickets: await tickets.open(), processor: await processor.open() };
  await furnish(stage, urls);
  await scenes(stage);
};

const scenes = async (stage: Stage): Promise<void> => {
  await allowedRead(stage);
  const deed = await allowedWrite(stage);
  await contradictedWrite(stage);
  await deniedDelete(stage);
  await unknownTool(stage);
  await sameKeyTwice(stage);
  await usedUp(stage);
  await refunds(stage);
  await atTheEdge(stage);
  await heldTool(stage);
  const owner = await stopAll(stage);
  const closing = await twoPeople(stage, owner);
  await witnessedDatabase(stage, owner);
  await crash(stage);
  await exportAndVerify(stage, { deed, approved: closing });
};

const secretsOf = ({ adminKey, agentKey }: Prepared): { adminKey: string; agentKey: string } => {
  if (adminKey === null || agentKey === null) throw new Error('the scratch state directory was not empty');
  return { adminKey, agentKey };
};

const begin = (given: readonly string[]): Promise<number> | number => {
  if (given.length === 0) return main();
  if (given.length === 1 && (given[0] === '--help' || given[0] === '-h')) {
    terminal.out(HELP);
    return EXIT.fine;
  }
  if (given.length === 1 && given[0] === '--console') return mainOfConsole();
  terminal.err(`${given.join(' ')}: the demo takes --console or no argument. Add --help to see how it is used.\n`);
  return EXIT.unusable;
};

process.exitCode = await begin(process.argv.slice(2));
