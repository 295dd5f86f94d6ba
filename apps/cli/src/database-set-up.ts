import type { SetUpStatement, SetUpTerms } from '#libs/infra/database-set-up';
import { DatabaseClient } from '#libs/infra/postgres';
import { STANDARD_INPUT } from './arguments.js';
import { blaming, usage } from './cli-error.js';
import { readInput } from './input-file.js';
import { table } from './terminal.js';

const ADDRESS_MAX_BYTES = 8 * 1024;
const WHERE = 'the address on standard input';
/** Longer than any lock is waited for; making a slot waits for the transactions that are under way. */
const STATEMENT_TIMEOUT_MS = 60_000;

export interface SetUpResult {
  readonly steps: readonly SetUpOutcome[];
  readonly isDone: boolean;
  readonly credential: MadeCredential | null;
}

interface SetUpOutcome extends Pick<SetUpStatement, 'step' | 'what'> {
  readonly status: 'done' | 'failed';
  /** Of a failed step: why, and what to do. */
  readonly message: string | null;
}

/** As the connector stores it. A password is null where the role was there before: it keeps the one it has. */
interface MadeCredential {
  readonly username: string;
  readonly password: string | null;
  readonly witness_username?: string;
  readonly witness_password?: string | null;
}

/**
 * With the login of the owner. Read from standard input alone.
 * @throws {CliError} usage; never with what was read
 */
export const readOwnerAddress = async (): Promise<string> => {
  const text = (await readInput(STANDARD_INPUT, ADDRESS_MAX_BYTES)).toString('utf8').trim();
  if (text === '') {
    throw usage(
      'The address of the database is expected on standard input: postgres://OWNER:PASSWORD@HOST:PORT/DATABASE',
    );
  }
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) {
    throw usage(
      'What was read from standard input is no address of the form postgres://OWNER:PASSWORD@HOST:PORT/DATABASE.',
    );
  }
  return text;
};

/**
 * Runs each statement by itself: one that fails leaves the others done.
 * @throws {CliError} usage, database_unavailable
 */
export const runSetUp = (terms: SetUpTerms, address: string): Promise<SetUpResult> =>
  blaming(WHERE, async () => {
    const client = new DatabaseClient({
      connectionString: address,
      application_name: 'ags set-up',
      statement_timeout: STATEMENT_TIMEOUT_MS,
    });
    try {
      await client.connect();
      await requireDatabase(client, terms.database);
      const { verifiers, credential } = await passwordsFor(client, terms);
      const { setUpSql } = await import('#libs/infra/database-set-up');
      const steps: SetUpOutcome[] = [];
      for (const statement of setUpSql({ ...terms, verifiers })) steps.push(await outcomeOf(client, statement));
      return { steps, isDone: steps.every(({ status }) => status === 'done'), credential: madeIn(steps, credential) };
    } finally {
      await client.end();
    }
  });

const requireDatabase = async (client: DatabaseClient, wanted: string): Promise<void> => {
  const { rows } = await client.query<{ name: string }>('select current_database()::text as name');
  const name = rows[0]?.name;
  if (name === wanted) return;
  throw usage(`The address leads to the database ${name}, and the connector to ${wanted}. Nothing was changed.`);
};

/** For roles that there are not yet. */
const passwordsFor = async (client: DatabaseClient, { agentRole, witnessRole, witness }: SetUpTerms) => {
  const { newPassword, scramVerifier } = await import('#libs/infra/database-set-up');
  const { rows } = await client.query<{ name: string }>(
    'select rolname::text as name from pg_catalog.pg_roles where rolname = any ($1::text[])',
    [[agentRole, witnessRole]],
  );
  const isThere = (role: string): boolean => rows.some(({ name }) => name === role);
  const agent = isThere(agentRole) ? null : newPassword();
  const ofWitness = witness === null || isThere(witnessRole) ? null : newPassword();
  const credential: MadeCredential = {
    username: agentRole,
    password: agent,
    ...(witness === null ? {} : { witness_username: witnessRole, witness_password: ofWitness }),
  };
  return {
    credential,
    verifiers: {
      ...(agent === null ? {} : { agent: scramVerifier(agent) }),
      ...(ofWitness === null ? {} : { witness: scramVerifier(ofWitness) }),
    },
  };
};

/** A GRANT that granted nothing is a warning, and no error, to PostgreSQL. Told by its class of codes: words may be translated. */
const outcomeOf = async (client: DatabaseClient, { step, what, sql }: SetUpStatement): Promise<SetUpOutcome> => {
  let warned: string | null = null;
  const onNotice = ({ code, message }: { code?: string | undefined; message?: string | undefined }): void => {
    if (code?.startsWith(WARNING_CLASS)) warned ??= `${message}. ${NEXT[INSUFFICIENT_PRIVILEGE]}`;
  };
  client.on('notice', onNotice);
  try {
    await client.query(sql);
    return { step, what, status: warned === null ? 'done' : 'failed', message: warned };
  } catch (error) {
    const state = stateOf(error);
    // Without a state there is no connection any more, and nothing else can be done.
    if (state === null) throw error;
    return { step, what, status: 'failed', message: messageOf(error as DatabaseRefusal, state) };
  } finally {
    client.off('notice', onNotice);
  }
};

interface DatabaseRefusal {
  readonly message: string;
  readonly hint?: string;
}

const WARNING_CLASS = '01';
const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';
const NOT_IN_STATE = '55000';

const NEXT: Readonly<Record<string, string>> = {
  [LOCK_NOT_AVAILABLE]: 'Another transaction holds the table: run it again when that has ended.',
  [INSUFFICIENT_PRIVILEGE]:
    'Run it with the login of a superuser, or have one run what npm run ags -- database setup-sql prints.',
  [NOT_IN_STATE]: `Set wal_level first: ALTER SYSTEM SET wal_level = 'logical', restart the server, and run it again.`,
};

const messageOf = ({ message, hint }: DatabaseRefusal, state: string): string =>
  [message.replace(/\.?$/, '.'), hint ?? NEXT[state]].filter((part) => part !== undefined).join(' ');

/** The code of PostgreSQL's own refusals; null for all else, a server that goes away included. */
const stateOf = (error: unknown): string | null => {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return /^[0-9A-Z]{5}$/.test(error.code) && !/^(57P|08)/.test(error.code) ? error.code : null;
};

/** A role that could not be made has no password to show. */
const madeIn = (steps: readonly SetUpOutcome[], credential: MadeCredential): MadeCredential | null => {
  const isMade = (name: SetUpOutcome['step']): boolean =>
    steps.some(({ step, status }) => step === name && status === 'done');
  const { username, witness_username } = credential;
  const password = isMade('agent_role') ? credential.password : null;
  const ofWitness = isMade('witness_role') ? (credential.witness_password ?? null) : null;
  if (password === null && ofWitness === null) return null;
  return {
    username,
    password,
    ...(witness_username === undefined ? {} : { witness_username, witness_password: ofWitness }),
  };
};

export const setUpText = (connector: string, { steps, isDone, credential }: SetUpResult): string => {
  const rows = steps.map(({ status, what }) => [status, what]);
  const faults = steps.flatMap(({ what, message }) => (message === null ? [] : [`  ${what}: ${message}`]));
  return [
    table(['status', 'step'], rows),
    ...(faults.length === 0 ? [] : ['', 'What to do:', ...faults]),
    ...passwordLines(isDone, credential).flatMap((line, index) => (index === 0 ? ['', line] : [line])),
    '',
    isDone
      ? `The database is set up. Next: npm run ags -- connectors test ${connector}`
      : 'The database is not set up whole. Run it again when the above is done: nothing is done twice.',
  ].join('\n');
};

/** As after `setup-sql`, whose roles have no password yet. */
const NO_PASSWORD_MADE: readonly string[] = [
  'No password was made: a role that was there before keeps the one it has, or has none until \\password of psql',
  'gives it one. Store both in the Console, or with PUT /v1/connectors/{id}/credentials, unless they are stored.',
];

const passwordLines = (isDone: boolean, credential: MadeCredential | null): readonly string[] => {
  if (credential !== null) return credentialLines(credential);
  return isDone ? NO_PASSWORD_MADE : [];
};

const credentialLines = (credential: MadeCredential): readonly string[] => [
  'The credential of the connector, shown this once. Store it in the Console, or with PUT /v1/connectors/{id}/credentials:',
  `  ${JSON.stringify({ kind: 'database', secret: credential })}`,
  ...(Object.values(credential).includes(null)
    ? ['Where a password is null, the role was there before and keeps the one it has.']
    : []),
];
