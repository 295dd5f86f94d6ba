import { createHash } from 'node:crypto';
import { InvalidArgumentError, type Command } from 'commander';
import { type EventStore, type OrgId, type Position, type RecordedEvent } from '#libs/domain/kernel';
import type { Administration } from '../administration.js';
import { fileArgument, idArgument } from '../arguments.js';
import { CliError, logIncomplete, usage } from '../cli-error.js';
import {
  withAdministration,
  withExamples,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import { eventLineOf, orgOf } from '../event-line.js';
import { refuseInterrupted } from '../interruption.js';
import { writeNewFile } from '../new-file.js';
import { ProgressLine, type Answer, type Terminal } from '../terminal.js';

const PAGE_EVENTS = 1_000;

/** `ags events`: the log for auditors. */
export const registerEventsCommands = (program: Command, context: CommandContext): void => {
  const events = program
    .command('events')
    .description(
      'The event log for auditors: one JSON object a line and event, with ids and digests only. Arguments, results, ' +
        'names, reasons and the source of policies are never shown.',
    )
    .summary('export or follow the event log: ids and digests');
  withExamples(
    events,
    'npm run --silent ags -- events export --output events.jsonl',
    'npm run --silent ags -- events tail',
  );
  registerExport(events, context);
  registerTail(events, context);
};

interface ExportOptions extends JsonOption, OrgOption {
  readonly from?: Position;
  readonly to?: Position;
  readonly output?: string;
}

const registerExport = (events: Command, context: CommandContext): void => {
  withExamples(
    events
      .command('export')
      .description(
        'Writes the whole log as it stands, in its order, or a part of it. Two exports of the same events are equal ' +
          'byte for byte. Ends with 1 when the log has a hole.',
      )
      .option('--org <id>', 'the events of this organization alone', idArgument('org'))
      .option('--from <position>', 'from this position on, inclusive', positionArgument)
      .option('--to <position>', 'up to this position, inclusive', positionArgument)
      .option('--output <file>', 'a new file, mode 0600; default: standard output', fileArgument)
      .option('--json', 'what is said about the export, and an error, as one JSON object')
      .action(async (options: ExportOptions) => {
        requireStretch(options);
        await withAdministration(context, options.json === true, async (administration, interrupted) => {
          await requireOrganization(administration, options.org);
          const lines = linesOf(administration.log, options, context.terminal, interrupted);
          return options.output === undefined
            ? exportToOutput(context.terminal, lines)
            : exportToFile(lines, options.output);
        });
      }),
    'npm run --silent ags -- events export > events.jsonl',
    'npm run --silent ags -- events export --org org_... --from 1000 --output events.jsonl',
  );
};

/** @throws {CliError} usage */
const requireStretch = ({ from, to }: ExportOptions): void => {
  if (from === undefined || to === undefined || from <= to) return;
  throw usage(`Nothing lies from --from ${from} up to --to ${to}: give the lower position first.`);
};

const exportToOutput = async (terminal: Terminal, lines: AsyncIterable<string>): Promise<null> => {
  for await (const text of lines) {
    terminal.out(text);
    if (!(await terminal.taken())) break;
  }
  return null;
};

const exportToFile = async (lines: AsyncIterable<string>, path: string): Promise<Answer> => {
  const hash = createHash('sha256');
  let events = 0;
  const counted = async function* (): AsyncGenerator<string> {
    for await (const text of lines) {
      hash.update(text);
      events += text.split('\n').length - 1;
      yield text;
    }
  };
  await writeNewFile(path, counted());
  const digest = `sha256:${hash.digest('hex')}`;
  return {
    objects: [{ object: 'event_export', file: path, events, digest }],
    text: `Wrote ${events.toLocaleString('en')} events to ${path} (${digest}).`,
  };
};

/**
 * A page of lines at a time.
 * @throws {CliError} interrupted; log_incomplete, behind the last page: what is there is written first
 */
const linesOf = async function* (
  log: EventStore,
  { org, from, to }: ExportOptions,
  terminal: Terminal,
  interrupted: AbortSignal,
): AsyncGenerator<string> {
  const progress = new ProgressLine(terminal);
  const head = await log.head();
  if (from !== undefined && from > head) {
    terminal.err(`The log ends at position ${head}: there is nothing from ${from} on.\n`);
  }
  const last = to !== undefined && to < head ? to : head;
  let after = (from ?? 0n) - 1n;
  const hole: { missing: Position | null } = { missing: null };
  while (after < last) {
    refuseInterrupted(interrupted);
    const page = (await log.readAll(after, PAGE_EVENTS)).filter(({ position }) => position <= last);
    hole.missing ??= firstMissing(log, after, page, last);
    yield textOf(page, org);
    after = page.at(-1)?.position ?? last;
    progress.show(`Read up to position ${after.toLocaleString('en')} of ${last.toLocaleString('en')}`);
  }
  progress.clear();
  if (hole.missing !== null) throw logIncomplete(hole.missing);
};

/** @param upTo a position that the log reaches: an empty page says that nothing lies from `after` up to it */
const firstMissing = (
  log: EventStore,
  after: Position,
  page: readonly RecordedEvent[],
  upTo: Position,
): Position | null => {
  let end = after;
  for (const position of page.length === 0 ? [upTo + 1n] : page.map((event) => event.position)) {
    if (!log.isNext(end, position)) return end + 1n;
    end = position;
  }
  return null;
};

const textOf = (events: readonly RecordedEvent[], org: OrgId | undefined): string =>
  events
    .filter((recorded) => org === undefined || orgOf(recorded) === org)
    .map((recorded) => `${JSON.stringify(eventLineOf(recorded))}\n`)
    .join('');

interface TailOptions extends JsonOption, OrgOption {
  readonly from?: Position;
}

const registerTail = (events: Command, context: CommandContext): void => {
  withExamples(
    events
      .command('tail')
      .description(
        'Follows the log: writes each event as it is recorded, until it is interrupted (Ctrl-C, SIGTERM or SIGHUP), and then ' +
          'ends with 0. Goes on by itself where the database was restarted, and leaves nothing out.',
      )
      .option('--org <id>', 'the events of this organization alone', idArgument('org'))
      .option('--from <position>', 'begin with this position; default: with the next event', positionArgument)
      .option('--json', 'an error as one JSON object')
      .action(async (options: TailOptions) =>
        withAdministration(context, options.json === true, async (administration, interrupted) => {
          await requireOrganization(administration, options.org);
          await follow(context.terminal, administration.log, options, interrupted);
          return null;
        }).catch(unlessInterrupted),
      ),
    'npm run --silent ags -- events tail',
    'npm run --silent ags -- events tail --from 0 --org org_...',
  );
};

/** Its end is an interruption, also one that comes before the first event. */
const unlessInterrupted = (error: unknown): void => {
  if (!(error instanceof CliError) || error.code !== 'interrupted') throw error;
};

/** Until it is interrupted, or nobody reads on. @throws {CliError} log_incomplete */
const follow = async (
  terminal: Terminal,
  log: EventStore,
  { org, from }: TailOptions,
  interrupted: AbortSignal,
): Promise<void> => {
  const { LogHasHole } = await import('#libs/infra/event-store');
  const head = await log.head();
  const after = from === undefined ? head : from - 1n;
  if (after > head) terminal.err(`The log ends at position ${head}: waiting until it reaches ${after + 1n}.\n`);
  let end: (fault: CliError | null) => void = () => undefined;
  const ended = new Promise<CliError | null>((resolve) => (end = resolve));
  interrupted.addEventListener('abort', () => end(null), { once: true });
  if (interrupted.aborted) end(null);
  let isWaiting = false;
  const subscription = log.subscribeToAll({
    after,
    onEvents: async (page) => {
      isWaiting = false;
      terminal.out(textOf(page, org));
      if (!(await terminal.taken())) end(null);
    },
    onError: (error) => {
      if (error instanceof LogHasHole) end(logIncomplete(error.missing));
      else if (!isWaiting) terminal.err('The log does not answer; waiting for it.\n');
      isWaiting = true;
    },
  });
  const fault = await ended;
  await subscription.close();
  if (fault !== null) throw fault;
};

const requireOrganization = async ({ census }: Administration, org: OrgId | undefined): Promise<void> => {
  if (org !== undefined) await census.organization(org);
};

const positionArgument = (text: string): Position => {
  if (/^\d{1,15}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('A position is a whole number from 0, as the lines have it.');
};
