import { type Command, InvalidArgumentError } from 'commander';
import type { SetUpTable, SetUpTerms } from '#libs/infra/database-set-up';
import { collected, fileArgument, urlArgument } from '../arguments.js';
import { CliError, EXIT, usage } from '../cli-error.js';
import { type CommandContext, type JsonOption, withExamples } from '../command-context.js';
import { foundConnector, requireConnector } from '../connector-named.js';
import { readOwnerAddress, runSetUp, setUpText } from '../database-set-up.js';
import { readService, type ServiceOptions } from '../service-call.js';
import { present } from '../terminal.js';

interface SetUpOptions extends ServiceOptions, JsonOption {
  readonly connector: string;
  readonly table?: readonly NamedTable[];
  readonly full?: true;
  readonly agentRole?: string;
  readonly witnessRole?: string;
}

interface NamedTable {
  /** Null: the first schema of the config. */
  readonly schema: string | null;
  readonly name: string;
}

const WHAT_IT_HAS =
  'two roles without rights of their own, what agents may do with the tables named, a publication that names each of them, and ' +
  'the replication slot. A table is published only when it has a primary key, or REPLICA IDENTITY FULL: without, PostgreSQL would ' +
  'refuse every UPDATE and DELETE of it, whoever sends them. Running it again changes nothing that is as wanted.';
const NEEDS_KEY =
  'What the connector is, a running service says, which is asked with an admin key in the variable AGS_API_KEY or in --key-file.';

/** `ags database`: for the owner of a database that a connector leads to. */
export const registerDatabaseCommands = (program: Command, context: CommandContext): void => {
  const database = program
    .command('database')
    .description('Sets up the database of a connector, so that what agents change there can be seen in its change log.')
    .summary('set up the database of a connector');
  withExamples(
    database,
    'npm run ags -- database setup-sql --connector shop --table public.orders',
    'npm run ags -- database setup --connector shop --table public.orders < owner.url',
  ).addHelpText('after', KEY_EXIT);
  registerSetUpSql(database, context);
  registerSetUp(database, context);
};

const KEY_EXIT = '  3  the service refused the API key';

/** What both take: a connector, its tables, and where the service is. */
const settingUp = (database: Command, name: string): Command =>
  database
    .command(name)
    .requiredOption('--connector <connector>', 'its name, or con_... of it')
    .option(
      '--table <schema.table>',
      'a table that agents may read and change; repeat it for each. None are granted otherwise',
      collected(tableArgument),
    )
    .option(
      '--full',
      'give the tables REPLICA IDENTITY FULL: the change log then has whole old rows, which an undo needs',
    )
    .option(
      '--agent-role <role>',
      'the role that calls are made as; default: ags_ and the connector’s id and _agent',
      nameArgument,
    )
    .option(
      '--witness-role <role>',
      'the role that reads the change log; default: the same with _witness',
      nameArgument,
    )
    .option('--key-file <file>', 'a file that holds an admin key, which the service is asked with', fileArgument)
    .option('--url <url>', 'where the service is; default: what the settings say', urlArgument);

const registerSetUpSql = (database: Command, context: CommandContext): void => {
  withExamples(
    settingUp(database, 'setup-sql')
      .description(`Prints the SQL that the owner of the database runs with psql: ${WHAT_IT_HAS} ${NEEDS_KEY}`)
      .summary('print the SQL that sets up the database')
      .option('--json', 'each statement as one JSON object a line')
      .action(async (options: SetUpOptions) => {
        const terms = await termsOf(options);
        const { setUpScript, setUpSql } = await import('#libs/infra/database-set-up');
        const objects = setUpSql(terms).map((statement) => ({ object: 'set_up_statement', ...statement }));
        present(context.terminal, options.json === true, { objects, text: setUpScript(terms, options.connector) });
      }),
    'npm run --silent ags -- database setup-sql --connector shop --table public.orders > setup.sql',
    'npm run ags -- database setup-sql --connector shop --table public.orders --full',
  ).addHelpText('after', KEY_EXIT);
};

const registerSetUp = (database: Command, context: CommandContext): void => {
  withExamples(
    settingUp(database, 'setup')
      .description(
        `Sets up the database: ${WHAT_IT_HAS} Its address with the owner’s login (postgres://...) is read from standard input and ` +
          'kept nowhere; it is no argument, since other programs of the machine can read those. Roles that it makes get passwords, ' +
          `which are shown once. ${NEEDS_KEY} Ends with 1 when a step failed; the others are done all the same.`,
      )
      .summary('set up the database, with the owner’s login on standard input')
      .option('--json', 'a JSON object a step, then one of the whole')
      .action(async (options: SetUpOptions) => {
        const terms = await termsOf(options);
        const result = await runSetUp(terms, await readOwnerAddress());
        if (!result.isDone) context.exitCode = EXIT.refused;
        const objects = [
          ...result.steps.map((step) => ({ object: 'set_up_step', ...step })),
          {
            object: 'database_set_up',
            connector: options.connector,
            is_done: result.isDone,
            credential: result.credential,
          },
        ];
        present(context.terminal, options.json === true, { objects, text: setUpText(options.connector, result) });
      }),
    'npm run ags -- database setup --connector shop --table public.orders --table public.refunds < owner.url',
    'npm run --silent ags -- database setup --connector shop --table public.orders --json < owner.url',
  ).addHelpText('after', KEY_EXIT);
};

const tableArgument = (text: string): NamedTable => {
  const dot = text.indexOf('.');
  if (dot === -1) return { schema: null, name: nameArgument(text) };
  return { schema: nameArgument(text.slice(0, dot)), name: nameArgument(text.slice(dot + 1)) };
};

/** PostgreSQL cuts longer ones off. What gives a terminal orders is no name that somebody types. */
const nameArgument = (text: string): string => {
  if (text !== '' && Buffer.byteLength(text) <= 63 && !/\p{Cc}/u.test(text)) return text;
  throw new InvalidArgumentError(
    'A name of PostgreSQL is expected, as it is stored there: 1 to 63 bytes, without quotes.',
  );
};

interface ShownDatabase {
  readonly id: string;
  readonly type: string;
  readonly config: {
    readonly database: string;
    readonly schemas: readonly string[];
    readonly witness: { readonly enabled: boolean; readonly slot?: string; readonly publication?: string };
  };
}

const termsOf = async (options: SetUpOptions): Promise<SetUpTerms> => {
  const { connector } = options;
  await requireConnector(connector);
  const shown = foundConnector(connector, await readService(options, `/v1/connectors/${connector}`));
  const { id, type, config } = shown as unknown as ShownDatabase;
  if (type !== 'database') {
    throw new CliError(
      'conflict',
      `${connector} is a connector of type ${type}: only a database is set up.`,
      EXIT.refused,
    );
  }
  const { database, schemas, witness } = config;
  const own = `ags_${id.replace(/^con_/, '')}`;
  const { agentRole = `${own}_agent`, witnessRole = `${own}_witness` } = options;
  if (agentRole === witnessRole) {
    throw usage('The witness needs a role of its own: one that may replicate reads everything.');
  }
  return {
    database,
    schemas,
    witness: witness.enabled ? { slot: witness.slot ?? own, publication: witness.publication ?? own } : null,
    tables: tablesOf(options, schemas),
    agentRole,
    witnessRole,
  };
};

/** @throws {CliError} usage, for a table that no statement of an agent may name */
const tablesOf = ({ table = [], full }: SetUpOptions, schemas: readonly string[]): readonly SetUpTable[] =>
  table.map(({ schema, name }) => {
    const inSchema = schema ?? schemas[0] ?? 'public';
    if (!schemas.includes(inSchema)) {
      throw usage(
        `The config of the connector does not name the schema ${inSchema}. Its schemas are ${schemas.join(', ')}.`,
      );
    }
    return { schema: inSchema, name, isFull: full === true };
  });
