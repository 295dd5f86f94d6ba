import type { DatabaseSession } from './database-session.js';
import { AGENT_ROLE_SQL, whyUnsafe } from './readiness/index.js';
import { literal } from './sql-text.js';

/** PostgreSQL 14. */
const MIN_VERSION = 140_000;
/** Its `pg_logical_emit_message` flushes on demand. */
const FLUSHING_VERSION = 170_000;

/** What a session's server and role are found to be. Each fault is a sentence without a next step; null where all is well. */
export interface SessionFacts {
  /** Why the role could do more than its grants say. */
  readonly roleFault: string | null;
  /** Why statements cannot be run or judged here. */
  readonly serverFault: string | null;
  /** Why nothing could be witnessed. Null where no witness is asked for. */
  readonly witnessFault: string | null;
  /** Whether the id of a transaction can be had on the server's disk before its COMMIT. */
  readonly keepsIds: boolean;
}

export interface WitnessPlace {
  readonly slot: string;
  readonly publication: string;
}

const SERVER_FACTS = `
select pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('server_encoding'),
  pg_catalog.current_setting('track_counts'), pg_catalog.pg_is_in_recovery()::text`;

const witnessFacts = ({ slot, publication }: WitnessPlace): string => `
select pg_catalog.current_setting('wal_level'),
  (select count(*) from pg_catalog.pg_publication where pubname = ${literal(publication)})::text,
  (select count(*) from pg_catalog.pg_replication_slots
    where slot_name = ${literal(slot)} and database = pg_catalog.current_database() and plugin = 'pgoutput')::text`;

/** @throws {StatementFailed} */
export const readSessionFacts = async (
  session: DatabaseSession,
  witness: WitnessPlace | null,
): Promise<SessionFacts> => {
  const asked = [AGENT_ROLE_SQL, SERVER_FACTS, ...(witness === null ? [] : [witnessFacts(witness)])];
  const answers = await session.script(asked.join(';'));
  const [role = [], server = [], witnessed = []] = answers.map(({ rows }) => rows[0] ?? []);
  return {
    roleFault: whyUnsafe({ facts: role[0] ?? '' }),
    serverFault: serverFaultOf(server),
    witnessFault: witness === null ? null : witnessFaultOf(witnessed, witness),
    keepsIds: Number(server[0]) >= FLUSHING_VERSION,
  };
};

type Row = readonly (string | null)[];

const serverFaultOf = ([version, encoding, trackCounts, isInRecovery]: Row): string | null => {
  if (Number(version) < MIN_VERSION) return 'The server is older than PostgreSQL 14.';
  if (encoding !== 'UTF8') return 'The encoding of the database is not UTF8.';
  if (trackCounts !== 'on') return 'track_counts is off, so changed rows cannot be counted before COMMIT.';
  return isInRecovery === 'true' ? 'The server is a standby, which takes no writes.' : null;
};

const witnessFaultOf = ([walLevel, publications, slots]: Row, { slot, publication }: WitnessPlace): string | null => {
  if (walLevel !== 'logical') return `wal_level is ${walLevel ?? 'unknown'}, and has to be logical.`;
  if (publications !== '1') return `The database has no publication ${publication}.`;
  return slots === '1' ? null : `The database has no replication slot ${slot} of the plugin pgoutput.`;
};
