import type { Command } from 'commander';
import type pg from 'pg';
import type { Logger } from '#libs/domain/kernel';
import { givenText, InvalidKurrentUrl, parseConfig, parseKurrentUrl, type Config } from '#libs/infra/config';
import type { CopyLogOptions, CopyProgress, LogCopy, OpenedEventStore } from '#libs/infra/event-store';
import { untilInterrupted } from '#libs/infra/runtime';
import { openRows, requireInitialized, requirePrepared } from '../administration.js';
import { blaming, CliError, EXIT, usage } from '../cli-error.js';
import {
  loggerOf,
  requireConfirmedRestore,
  withExamples,
  type CommandContext,
  type JsonOption,
} from '../command-context.js';
import { GivenLog } from '../given-log.js';
import { refuseInterrupted, refuseInterruptedStart } from '../interruption.js';
import { facts, present, ProgressLine, type Answer, type Terminal } from '../terminal.js';

const APPLICATION_NAME = 'ags log move';
/** Whoever may append: programs of the service, and commands. They stand in PostgreSQL by their names. */
const WRITERS = `
select distinct split_part(application_name, ' ', 2) as program from pg_stat_activity
 where datname = current_database() and application_name ~ '^ags (api|worker|projector|standalone|demo|rebuild|cli)( |$)'`;

/** Where a log is: the URL of an event store or of a PostgreSQL; both null for the PostgreSQL of the service. */
interface LogPlace {
  readonly eventStoreUrl: string | null;
  readonly connectionString: string | null;
  /** That gave the URL; null for a place that the settings name. */
  readonly option: string | null;
}

const OWN_DATABASE: LogPlace = { eventStoreUrl: null, connectionString: null, option: null };

interface MigrateOptions extends JsonOption {
  readonly from?: LogPlace;
  readonly to: LogPlace;
}

/** `ags migrate`: what a deployment holds, moved to other software. */
export const registerMigrateCommands = (program: Command, context: CommandContext): void => {
  const migrate = program
    .command('migrate')
    .description('Moves what the service holds to other software. The service must not run meanwhile.')
    .summary('move the event log to another store');
  withExamples(migrate, 'npm run ags -- migrate events --to esdb://log.example:2113?tls=false');
  withExamples(
    migrate
      .command('events')
      .description(
        'Copies the event log to another store: every event in its order, with its id, its stream and its bytes. Then reads ' +
          'all of it back, compares it, and notes in the database that its rows belong to the copy; rows of lists are made ' +
          'anew by the next start. The source stays as it is. The service must be stopped. A copy that was interrupted goes ' +
          'on where it ended. A URL holds a password, and every user of the machine reads arguments: env:NAME takes it from ' +
          'the variable NAME.',
      )
      .summary('copy the event log, and go on with the copy')
      .requiredOption(
        '--to <url>',
        'esdb://..., postgres://..., `database` for the PostgreSQL of the service, or env:NAME',
        placeGivenTo('--to'),
      )
      .option('--from <url>', 'the same; default: the log that the settings name', placeGivenTo('--from'))
      .option('--json', 'one JSON object')
      .action(async (options: MigrateOptions) => {
        const config = parseConfig();
        await requireInitialized(config);
        await requireConfirmedRestore(config);
        const answer = await untilInterrupted((interrupted) => move(context.terminal, config, options, interrupted));
        present(context.terminal, options.json === true, answer);
      }),
    'npm run ags -- migrate events --to esdb://log.example:2113?tls=false',
    'LOG_URL=esdb://admin:...@log.example:2113 npm run ags -- migrate events --to env:LOG_URL',
    'npm run ags -- migrate events --from env:LOG_URL --to postgres://ags@db.example/ags',
  );
};

/** An argument that is refused is not quoted, as the library would: it may be a password, or hold one. */
const placeGivenTo =
  (option: string) =>
  (text: string): LogPlace => {
    if (text === 'database') return OWN_DATABASE;
    const url = givenText(text);
    if (url === null) throw usage(`The variable that ${text} names is not set. Set it, or give the URL to ${option}.`);
    if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) {
      return { eventStoreUrl: null, connectionString: url, option };
    }
    try {
      parseKurrentUrl(url);
      return { eventStoreUrl: url, connectionString: null, option };
    } catch (error) {
      if (!(error instanceof InvalidKurrentUrl)) throw error;
      throw usage(`${option} ${error.message}. It may be postgres://..., too, or \`database\`.`);
    }
  };

/** @throws {CliError} conflict: somebody else is connected, or the source is another log */
const move = async (
  terminal: Terminal,
  config: Config,
  { from, to }: MigrateOptions,
  interrupted: AbortSignal,
): Promise<Answer> => {
  const { createDurablePool } = await import('#libs/infra/postgres');
  const log = loggerOf(terminal);
  const { connectionString, embedded } = await openRows(config, log);
  const pool = createDurablePool({
    connectionString,
    applicationName: APPLICATION_NAME,
    maxConnections: 2,
    onError: () => undefined,
  });
  const opened: Log[] = [];
  try {
    await requirePrepared(pool, config);
    const source = await openLog(
      from ?? { ...OWN_DATABASE, eventStoreUrl: config.eventStoreUrl },
      connectionString,
      log,
    );
    opened.push(source);
    const target = await openLog(to, connectionString, log);
    opened.push(target);
    refuseInterruptedStart(interrupted);
    const sending = to.eventStoreUrl === null ? 'together' : 'one_by_one';
    return await moveBetween({ source, target, sending, pool, terminal, interrupted });
  } finally {
    for (const store of opened) await store.close();
    await pool.end();
    await embedded?.release();
  }
};

type Log = OpenedEventStore | GivenLog;

interface Move {
  readonly source: Log;
  readonly target: Log;
  readonly sending: CopyLogOptions['sending'];
  readonly pool: pg.Pool;
  readonly terminal: Terminal;
  readonly interrupted: AbortSignal;
}

const moveBetween = async ({ source, target, sending, pool, terminal, interrupted }: Move): Promise<Answer> => {
  const { copyLog, knownStoreIdOf, notedStore, noteStore, requireEnd } = await import('#libs/infra/event-store');
  const [known, sourceId, targetId] = await Promise.all([
    notedStore(pool),
    knownStoreIdOf(source),
    knownStoreIdOf(target),
  ]);
  if (sourceId === null) throw usage('The source is an empty store. Give the one that has the log, with --from.');
  if (sourceId === targetId) throw usage('Source and target are one and the same store. Give another one with --to.');
  if (known !== null && known !== sourceId && known !== targetId) {
    const message = `The rows of this deployment belong to the store ${known}, and the source is ${sourceId}.`;
    throw new CliError('conflict', `${message} Give the store that has their log, with --from.`, EXIT.refused);
  }
  if (known !== null && known === targetId) return answerOf({ events: null, copied: 0, storeId: known });
  await requireNobody(pool);
  const progress = new ProgressLine(terminal);
  const copy = await copyLog({
    source,
    target,
    sending,
    onProgress: (step) => progress.show(progressText(step)),
    mayGoOn: () => refuseInterrupted(interrupted, 'It was interrupted. Run it again: it goes on where it ended.'),
  });
  progress.clear();
  await noteStore(pool, copy.storeId, async () => {
    await requireNobody(pool);
    // Whoever came and went since has written what the copy lacks.
    await requireEnd(source, copy.end);
  });
  return answerOf(copy);
};

/** @param own the PostgreSQL of the service */
const openLog = async (place: LogPlace, own: string, log: Logger): Promise<Log> => {
  const { openEventStore } = await import('#libs/infra/event-store');
  const { eventStoreUrl, option } = place;
  const connectionString = place.connectionString ?? own;
  if (eventStoreUrl === null) {
    const prepared = (): Promise<void> => prepareDatabase(connectionString, log);
    await (option === null ? prepared() : blaming(option, prepared));
  }
  const store = openEventStore(
    { eventStoreUrl, connectionString },
    { applicationName: APPLICATION_NAME, log, onConnectionLost: () => undefined },
  );
  return option === null ? store : new GivenLog(store, option);
};

const prepareDatabase = async (connectionString: string, log: Logger): Promise<void> => {
  const { ensureDatabase } = await import('#libs/infra/postgres');
  const { installSchemas } = await import('#libs/infra/schemas');
  await ensureDatabase(connectionString, log);
  await installSchemas(connectionString, ['event_store'], { log });
};

/** @throws {CliError} conflict */
const requireNobody = async (pool: pg.Pool): Promise<void> => {
  const { rows } = await pool.query<{ program: string }>(WRITERS);
  if (rows.length === 0) return;
  const programs = rows.map(({ program }) => program).join(', ');
  const message = `The service is connected to this database (${programs}), and would write into the log while it is copied.`;
  throw new CliError('conflict', `${message} Stop all of its processes, then run this again.`, EXIT.refused);
};

const progressText = ({ step, events, share }: CopyProgress): string =>
  `${step === 'copying' ? 'Copied' : 'Compared'} ${events.toLocaleString('en')} events (${Math.floor(share * 100)} %)`;

const answerOf = ({
  events,
  copied,
  storeId,
}: Omit<LogCopy, 'events' | 'end'> & { events: number | null }): Answer => ({
  objects: [{ object: 'event_migration', events, copied, store: storeId }],
  text: [
    events === null ? 'This deployment has gone over to the target already.' : 'The target has the whole log.',
    '',
    facts([
      ...(events === null ? [] : [['events', events.toLocaleString('en')] as const]),
      ['copied now', copied.toLocaleString('en')],
      ['store', storeId],
    ]),
    '',
    'Set EVENT_STORE_URL to the target (or unset it, where that is the PostgreSQL of the service) for every process, and',
    'start them. Lists fill anew from the log. The source is as it was: keep it until `npm run ags -- audit` is content.',
  ].join('\n'),
});
