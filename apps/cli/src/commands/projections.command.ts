import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text as textOf } from 'node:stream/consumers';
import { Argument, type Command } from 'commander';
import { environmentWith } from '#libs/infra/config';
import type { ProjectionName, RebuildReport, RebuildTask } from '#libs/infra/read-models';
import { programFile } from '#libs/infra/runtime';
import { CliError, EXIT, logIncomplete } from '../cli-error.js';
import { withDeployment, withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { barText, present, ProgressLine, table, type Answer, type Terminal } from '../terminal.js';
import { isBroken, verdictOf, type Verified } from './projection-verdict.js';

/** As `PROJECTION_NAMES` has them; written out, so that a help text does not load a database's driver. */
const NAMES: Readonly<Record<ProjectionName, true>> = {
  actions: true,
  deeds: true,
  connectors: true,
  policies: true,
  agents: true,
  security_events: true,
  public_events: true,
  checkpoints: true,
};

type Done<Type extends 'rebuilt' | 'verified'> = Extract<RebuildReport, { type: Type }>;
type Rebuilt = Done<'rebuilt'>;

/** `ags projections`: the rows of lists, which come from the log and can be made again from it. */
export const registerProjectionsCommands = (program: Command, context: CommandContext): void => {
  const projections = program
    .command('projections')
    .description('Projections: the rows that lists are answered from, folded from the event log.')
    .summary('compare the rows of lists with the log, or make them anew from it');
  withExamples(projections, 'npm run ags -- projections verify', 'npm run ags -- projections rebuild actions');
  withExamples(
    projections
      .command('rebuild')
      .description(
        'Makes the rows of a projection anew from the whole log, in tables beside those that are read, and then puts ' +
          'them in their place. The service may run on meanwhile: lists go on answering from the old rows, and no ' +
          'event is lost. For rows that were changed or lost; what is recorded and sealed is never touched.',
      )
      .addArgument(nameArgument())
      .option('--json', 'one JSON object a projection')
      .action(async (name: ProjectionName | undefined, { json }: JsonOption) => {
        const { done, refusal } = await runTask(context, 'rebuild', name);
        if (refusal) throw refusal;
        const rebuilt = done.filter((report) => report.type === 'rebuilt');
        present(context.terminal, json === true, answerOf(rebuilt));
      }),
    'npm run ags -- projections rebuild',
    'npm run --silent ags -- projections rebuild actions --json',
  );
  withExamples(
    projections
      .command('verify')
      .description(
        'Makes the rows of a projection anew from the log, in tables beside those that are read, compares every column ' +
          'of every row, and drops the new ones. Finds rows that were changed, removed or invented in the database, which ' +
          'lists would show as they are. The service may run on meanwhile: both are compared as of one position of the ' +
          'log. Changes nothing. Ends with 0 when every row is what the log gives.',
      )
      .summary('compare every row with what the log gives')
      .addArgument(nameArgument())
      .option('--json', 'one JSON object a projection')
      .action(async (name: ProjectionName | undefined, { json }: JsonOption) => {
        const { done, refusal } = await runTask(context, 'verify', name);
        const verified = done.filter((report) => report.type === 'verified');
        if (verified.length > 0) present(context.terminal, json === true, verdictOf(verified, refusal === null));
        if (refusal) throw refusal;
        if (verified.some(isBroken)) context.exitCode = EXIT.refused;
      }),
    'npm run ags -- projections verify',
    'npm run --silent ags -- projections verify deeds --json',
  );
};

const nameArgument = (): Argument =>
  new Argument('[name]', 'which; all of them when left out').choices(Object.keys(NAMES));

interface Ended {
  /** In their order: all those of which this can be said. */
  readonly done: readonly (Rebuilt | Verified)[];
  readonly refusal: CliError | null;
}

const runTask = (context: CommandContext, task: RebuildTask, name: ProjectionName | undefined): Promise<Ended> =>
  withDeployment(context, ({ config, database }, interrupted) =>
    runProgram(context, [task, ...(name === undefined ? [] : [name])], interrupted, {
      SERVICE_STATE_DIR: config.stateDir,
      DATABASE_URL: database.connectionString,
      EVENT_STORE_URL: config.eventStoreUrl ?? '',
      SERVICE_VAULT_KEY_FILE: config.vaultKeyFile ?? '',
      SERVICE_PEPPER_FILE: config.pepperFile ?? '',
    }),
  );

/** Runs the projector's own program: how events become rows is nobody else's business. */
const runProgram = async (
  { terminal }: CommandContext,
  given: readonly [task: RebuildTask, ...names: ProjectionName[]],
  interrupted: AbortSignal,
  settings: Readonly<Record<string, string>>,
): Promise<Ended> => {
  const [task] = given;
  const child = spawn(process.execPath, [programFile('rebuild-projections'), ...given], {
    env: environmentWith(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A Ctrl-C reaches it by itself, a SIGTERM does not. It takes back what it has begun.
  interrupted.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const said = textOf(child.stderr);
  const { done, refusal } = await followReports(createInterface({ input: child.stdout }), task, terminal);
  const [code] = await ended;
  if (code === 0 || (code === SAID_WHY && refusal)) return { done, refusal };
  // Before it could say so.
  if (interrupted.aborted) return { done, refusal: behind(refusal, interruptedTask(task, null)) };
  const { code: errorCode, unfinished } = WORDS[task];
  const crash = new CliError(errorCode, `${unfinished} It said:\n${(await said).trim()}`, EXIT.refused);
  return { done, refusal: behind(refusal, crash) };
};

/** Exit code of the program when a report of it says what is not done. */
const SAID_WHY = 1;

/** One error for all that came to no end: of the code of the last, which ended the rest. */
const behind = (earlier: CliError | null, last: CliError): CliError =>
  earlier === null ? last : new CliError(last.code, `${earlier.message}\n${last.message}`, EXIT.refused);

/** Shows to whoever watches how far the program is that writes these lines; nothing of that is left when it has ended. */
export const followReports = async (
  lines: AsyncIterable<string>,
  task: RebuildTask,
  terminal: Terminal,
): Promise<Ended> => {
  const progress = new ProgressLine(terminal);
  const done: (Rebuilt | Verified)[] = [];
  let refusal: CliError | null = null;
  for await (const line of lines) {
    const report = JSON.parse(line) as RebuildReport;
    if (report.type === 'progress') progress.show(barText(report.projection, report.share, report.events, 'events'));
    else if (report.type === 'comparing') progress.show(barText(report.projection, report.share, report.rows, 'rows'));
    else if (report.type === 'rebuilt' || report.type === 'verified') done.push(report);
    else refusal = behind(refusal, refusalOf(task, report));
  }
  progress.clear();
  return { done, refusal };
};

/** How each task says that it came to no end. */
const WORDS = {
  rebuild: {
    code: 'rebuild_failed',
    unfinished: 'The rebuild did not end well; the rows of the projection under way are as they were. Run it again.',
    left: 'are as they were',
  },
  verify: {
    code: 'verification_failed',
    unfinished: 'The verification did not end well; it changed nothing. Run it again.',
    left: 'could not be compared',
  },
} as const satisfies Readonly<Record<RebuildTask, object>>;

const refusalOf = (
  task: RebuildTask,
  report: Extract<RebuildReport, { type: 'failed' | 'incomplete' | 'interrupted' | 'busy' }>,
): CliError => {
  if (report.type === 'busy') {
    return new CliError('conflict', 'Another rebuild or verification is under way. Wait for it to end.', EXIT.refused);
  }
  if (report.type === 'interrupted') return interruptedTask(task, report.projection);
  const { code, left } = WORDS[task];
  const consequence = `The rows of ${report.projection} ${left}.`;
  if (report.type === 'incomplete') return logIncomplete(report.missing, consequence);
  return new CliError(code, `${consequence} ${report.message}`, EXIT.refused);
};

const interruptedTask = (task: RebuildTask, projection: ProjectionName | null): CliError => {
  const what = projection === null ? 'the projection under way' : projection;
  const message =
    task === 'rebuild'
      ? `It was interrupted; the rows of ${what} are as they were. Run it again.`
      : `It was interrupted before it had compared ${what}. Run it again.`;
  return new CliError('interrupted', message, EXIT.refused);
};

const answerOf = (rebuilt: readonly Rebuilt[]): Answer => ({
  objects: rebuilt.map(({ projection, events, duration_ms }) => ({
    object: 'projection_rebuild',
    projection,
    events,
    duration_ms,
  })),
  text: table(
    ['PROJECTION', 'EVENTS READ', 'SECONDS'],
    rebuilt.map(({ projection, events, duration_ms }) => [
      projection,
      events.toLocaleString('en'),
      (duration_ms / 1000).toFixed(1),
    ]),
  ),
});
