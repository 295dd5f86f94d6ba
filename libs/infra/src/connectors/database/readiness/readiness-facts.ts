import type { TestedConnector } from '#libs/domain/connectors';
import { AGENT_ROLE_SQL, agentRoleFacts, type AgentRoleFacts, type AgentRoleRow } from './agent-role.js';
import type { ReadinessTerms } from './readiness-terms.js';
import { LOG_SQL, publicationSql, SERVER_SQL, TABLES_SQL, WITNESS_SQL, WRITABLE_SQL } from './readiness-sql.js';
import { type OpenSession, type Session, SessionFailed } from './session.js';

/** `server_version_num` of the oldest PostgreSQL that is served. */
export const OLDEST_VERSION = 140_000;

export interface ServerFacts {
  readonly version: number;
  readonly version_text: string;
  readonly in_recovery: boolean;
  readonly encoding: string;
  readonly standard_conforming_strings: string;
  readonly track_counts: string;
  readonly schemas: readonly { readonly name: string; readonly exists: boolean; readonly usage: boolean }[];
  readonly owned: readonly string[];
}

export interface LogFacts {
  readonly wal_level: string;
  readonly slots: number;
  readonly max_slots: number;
  readonly senders: number;
  readonly max_senders: number;
  /** In MB; -1: no end. */
  readonly keep_mb: number;
  readonly slot: SlotFacts | null;
}

export interface SlotFacts {
  readonly plugin: string | null;
  readonly database: string | null;
  readonly is_of_this_database: boolean;
  readonly temporary: boolean;
  /** Whether somebody reads it now. */
  readonly active: boolean;
  readonly two_phase: boolean | null;
  readonly wal_status: string | null;
  readonly invalidation: string | null;
  /** Bytes of the log that are kept for it, and those that its reader has not confirmed. */
  readonly kept: number | null;
  readonly behind: number | null;
}

export interface PublicationFacts {
  readonly all_tables: boolean;
  readonly insert: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  readonly truncate: boolean;
  readonly via_root: boolean;
  /** `s`: stored generated columns are published. Null before PostgreSQL 18. */
  readonly generated: string | null;
  readonly schemas: readonly string[];
}

/** A table whose changes the publication covers: one that it names, or a partition of one. */
export interface PublishedTable {
  readonly schema: string;
  readonly name: string;
  /** `relkind`: r or p. */
  readonly kind: string;
  /** The table that the publication names. */
  readonly root: string;
  /** `relreplident`: d, n, f or i. */
  readonly identity: string;
  /** Whether the key that the identity needs is there. */
  readonly has_key: boolean;
  readonly stored_in_identity: boolean;
  readonly has_virtual: boolean;
  readonly is_filtered: boolean;
  readonly has_column_list: boolean;
  readonly is_unlogged: boolean;
}

export interface WritableTable {
  readonly schema: string;
  readonly name: string;
  readonly is_published: boolean;
  readonly exists: boolean;
}

export interface WitnessFacts {
  readonly role: string;
  readonly is_superuser: boolean;
  readonly replicates: boolean;
  readonly writes: readonly string[];
}

/** What a session found, or why there is none. */
export type Found<Facts> =
  { readonly ok: true; readonly facts: Facts } | { readonly ok: false; readonly failure: SessionFailed };

export interface AgentSide {
  readonly server: ServerFacts;
  readonly role: AgentRoleFacts;
  /** Null where nothing is witnessed, or the server is too old to be asked. */
  readonly log: WitnessedLog | null;
}

export interface WitnessedLog {
  readonly log: LogFacts;
  readonly publication: PublicationFacts | null;
  readonly tables: readonly PublishedTable[];
  readonly writable: readonly WritableTable[];
}

/** Opens a session, reads, and closes it whatever comes. Nothing is left open between two checks. */
const readOver = async <Facts>(
  open: OpenSession,
  tested: TestedConnector,
  read: (session: Session) => Promise<Facts>,
): Promise<Found<Facts>> => {
  let session: Session | null = null;
  try {
    session = await open(tested);
    return { ok: true, facts: await read(session) };
  } catch (error) {
    if (error instanceof SessionFailed) return { ok: false, failure: error };
    // A refused catalogue is no fault of ours: some service hides a part of it.
    if (session !== null && isSqlError(error)) return { ok: false, failure: new SessionFailed('failed') };
    throw error;
  } finally {
    await session?.close();
  }
};

/** Of PostgreSQL: five characters. */
const isSqlError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code);

export const readAgentSide = (
  open: OpenSession,
  tested: TestedConnector,
  terms: ReadinessTerms,
): Promise<Found<AgentSide>> =>
  readOver(open, tested, async (session) => {
    const server = await one<ServerFacts>(session, SERVER_SQL, JSON.stringify(terms.schemas));
    const { rows } = await session.query(AGENT_ROLE_SQL);
    const role = agentRoleFacts(rows[0] as unknown as AgentRoleRow);
    const isAsked = terms.witness !== null && server.version >= OLDEST_VERSION;
    return { server, role, log: isAsked ? await readLog(session, server.version, terms) : null };
  });

const readLog = async (session: Session, version: number, terms: ReadinessTerms): Promise<WitnessedLog | null> => {
  if (terms.witness === null) return null;
  const { slot, publication } = terms.witness;
  const named = JSON.stringify(terms.namedTables);
  return {
    log: await one<LogFacts>(session, LOG_SQL, slot),
    publication: await one<PublicationFacts | null>(session, publicationSql(version), publication),
    tables: await one<readonly PublishedTable[]>(session, TABLES_SQL, publication),
    writable: await one<readonly WritableTable[]>(
      session,
      WRITABLE_SQL,
      publication,
      JSON.stringify(terms.schemas),
      named,
    ),
  };
};

export const readWitnessSide = (
  open: OpenSession,
  tested: TestedConnector,
  publication: string,
): Promise<Found<WitnessFacts>> =>
  readOver(open, tested, (session) => one<WitnessFacts>(session, WITNESS_SQL, publication));

/** Every question here answers one row with one JSON text: no parser of types stands between. */
const one = async <Facts>(session: Session, sql: string, ...params: readonly string[]): Promise<Facts> => {
  const { rows } = await session.query(sql, params);
  const text = rows[0]?.['facts'] ?? null;
  return (text === null ? null : JSON.parse(text as string)) as Facts;
};
