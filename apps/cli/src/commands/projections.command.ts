import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text as textOf } from 'node:stream/consumers';
import { Argument, type Command } from 'commander';
import { environmentWith } from '#libs/infra/config';
import type { ProjectionName, RebuildReport } from '#libs/infra/read-models';
import { programFile } from '#libs/infra/runtime';
import { CliError, EXIT } from '../cli-error.js';
import { withDeployment, withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { eventsText, present, ProgressLine, table, type Answer, type Terminal } from '../terminal.js';

/** As `PROJECTION_NAMES` has them; written out, so that a help text does not load a database's driver. */
const NAMES: Readonly<Record<ProjectionName, true>> = { actions: true, deeds: true, connectors: true, policies: true };

type Rebuilt = Extract<RebuildReport, { type: 'rebuilt' }>;

/** `ags projections`: the rows of lists, which come from the log and can be made again from it. */
export const registerProjectionsCommands = (program: Command, context: CommandContext): void => {
  const projections = program
    .command('projections')
    .description('Projections: the rows that lists are answered from, folded from the event log.')
    .summary('make the rows of lists anew from the log');
  withExamples(projections, 'npm run ags -- projections rebuild', 'npm run ags -- projections rebuild actions');
  withExamples(
    projections
      .command('rebuild')
      .description(
        'Makes the rows of a projection anew from the whole log, in tables beside those that are read, and then puts ' +
          'them in their place. The service may run on meanwhile: lists go on answering from the old rows, and no ' +
          'event is lost. For rows that were changed or lost; what is recorded and sealed is never touched.',
      )
      .addArgument(new Argument('[name]', 'which; all of them when left out').choices(Object.keys(NAMES)))
      .option('--json', 'one JSON object a projection')
      .action(async (name: ProjectionName | undefined, { json }: JsonOption) => {
        const rebuilt = await withDeployment(context, ({ config, database }, interrupted) =>
          rebuild(context, name === undefined ? [] : [name], interrupted, {
            SERVICE_STATE_DIR: config.stateDir,
            DATABASE_URL: database.connectionString,
            EVENT_STORE_URL: config.eventStoreUrl ?? '',
            SERVICE_VAULT_KEY_FILE: config.vaultKeyFile ?? '',
            SERVICE_PEPPER_FILE: config.pepperFile ?? '',
          }),
        );
        present(context.terminal, json === true, answerOf(rebuilt));
      }),
    'npm run ags -- projections rebuild',
    'npm run --silent ags -- projections rebuild actions --json',
  );
};

/** Runs the projector's own program: how events become rows is nobody else's business. */
const rebuild = async (
  { terminal }: CommandContext,
  names: readonly ProjectionName[],
  interrupted: AbortSignal,
  settings: Readonly<Record<string, string>>,
): Promise<readonly Rebuilt[]> => {
  const child = spawn(process.execPath, [programFile('rebuild-projections'), ...names], {
    env: environmentWith(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A Ctrl-C reaches it by itself, a SIGTERM does not. It takes back what it has begun.
  interrupted.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const said = textOf(child.stderr);
  const { rebuilt, refusal } = await followRebuild(createInterface({ input: child.stdout }), terminal);
  const [code] = await ended;
  if (refusal) throw refusal;
  // Before it could say so.
  if (code !== 0 && interrupted.aborted) throw interruptedRebuild(null);
  if (code !== 0) throw new CliError('rebuild_failed', failureText(await said), EXIT.refused);
  return rebuilt;
};

/** Shows to whoever watches how far the program is that writes these lines; nothing of that is left when it has ended. */
export const followRebuild = async (
  lines: AsyncIterable<string>,
  terminal: Terminal,
): Promise<{ readonly rebuilt: readonly Rebuilt[]; readonly refusal: CliError | null }> => {
  const progress = new ProgressLine(terminal);
  const rebuilt: Rebuilt[] = [];
  let refusal: CliError | null = null;
  for await (const line of lines) {
    const report = JSON.parse(line) as RebuildReport;
    if (report.type === 'progress') progress.show(eventsText(report.projection, report.share, report.events));
    else if (report.type === 'rebuilt') rebuilt.push(report);
    else refusal = refusalOf(report);
  }
  progress.clear();
  return { rebuilt, refusal };
};

const refusalOf = (report: Extract<RebuildReport, { type: 'failed' | 'interrupted' | 'busy' }>): CliError => {
  if (report.type === 'busy') {
    return new CliError('conflict', 'Another rebuild is under way. Wait for it to end.', EXIT.refused);
  }
  if (report.type === 'interrupted') return interruptedRebuild(report.projection);
  return new CliError('rebuild_failed', `${report.message} Its rows are as they were.`, EXIT.refused);
};

const interruptedRebuild = (projection: ProjectionName | null): CliError => {
  const what = projection === null ? 'the projection under way' : projection;
  return new CliError(
    'rebuild_failed',
    `It was interrupted; the rows of ${what} are as they were. Run it again.`,
    EXIT.refused,
  );
};

const failureText = (said: string): string =>
  `The rebuild did not end well; the rows of the projection under way are as they were. Run it again. It said:\n${said.trim()}`;

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
