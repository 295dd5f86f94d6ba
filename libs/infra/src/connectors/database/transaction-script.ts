import { partsOfTable } from '#libs/domain/connectors';
import type { DatabaseConfig } from '#libs/domain/connectors/database';

import { identifier, literal } from './sql-text.js';

export interface OpeningTerms {
  readonly config: Pick<DatabaseConfig, 'schemas' | 'lock_timeout_ms'>;
  readonly statementTimeoutMs: number;
  /** Shown in pg_stat_activity, so that whoever watches the database can find the action: `ags act_...`. */
  readonly applicationName: string;
}

/** How long a transaction stays open in which nothing happens, because the process that began it stands still. */
const IDLE_SPARE_MS = 15_000;

/**
 * Unqualified names mean the first schema and no other, as the statement was read; nothing temporary is found before it.
 * Values come as the texts that the result says they are, whatever the database's own settings.
 */
const settingsOf = ({ config, statementTimeoutMs, applicationName }: OpeningTerms): string =>
  [
    `set local search_path = ${identifier(config.schemas[0] ?? 'public')}, pg_temp`,
    `set local statement_timeout = ${statementTimeoutMs}`,
    `set local lock_timeout = ${Math.min(config.lock_timeout_ms, statementTimeoutMs)}`,
    `set local idle_in_transaction_session_timeout = ${statementTimeoutMs + IDLE_SPARE_MS}`,
    `set local application_name = ${literal(applicationName)}`,
    `set local client_encoding = 'UTF8'`,
    `set local standard_conforming_strings = on`,
    `set local timezone = 'UTC'`,
    `set local datestyle = 'ISO'`,
    `set local intervalstyle = 'postgres'`,
    `set local bytea_output = 'hex'`,
    `set local extra_float_digits = 1`,
  ].join(';');

export const readOpening = (terms: OpeningTerms): string => `begin read only;${settingsOf(terms)}`;

/**
 * A server that crashes gives the id of a transaction to another one where nothing with that id was on its disk, and then
 * says of the first what became of the second. So a record with the id is flushed before anybody is told of it. Only one
 * that is no part of the transaction is flushed; it means nothing to whoever reads the change log.
 */
const KEEP_ID = `, pg_catalog.pg_logical_emit_message(false, 'service.begin', '', true)`;

export interface WriteOpeningTerms extends OpeningTerms {
  readonly keepsId: boolean;
}

/**
 * Its last two answers: the id of the transaction; and each named table, by its place in the list, with the schema and the
 * name of its root, what kind of relation that is, and whether the publication holds it.
 * @param publication null where no change log is followed
 */
export const writeOpening = (terms: WriteOpeningTerms, tables: readonly string[], publication: string | null): string =>
  `begin read write;${settingsOf(terms)};select pg_catalog.pg_current_xact_id()::text${terms.keepsId ? KEEP_ID : ''};${rootsOf(tables, publication)}`;

/** As PostgreSQL publishes it: changes of a partition are changes of the table that it is a part of. */
const ROOT_OF = (relation: string): string => `
join pg_catalog.pg_class root on root.oid = coalesce(pg_catalog.pg_partition_root(${relation}), ${relation})
join pg_catalog.pg_namespace root_schema on root_schema.oid = root.relnamespace`;

const rootsOf = (tables: readonly string[], publication: string | null): string => `
select said.place::text, root_schema.nspname, root.relname, root.relkind::text,
  ${publication === null ? 'true' : isPublished(publication)}::text
from (values ${['(-1, null, null)', ...tables.map(valuesOf)].join(',')}) said(place, schema_name, table_name)
join pg_catalog.pg_namespace named_schema on named_schema.nspname = said.schema_name
join pg_catalog.pg_class named on named.relnamespace = named_schema.oid and named.relname = said.table_name
${ROOT_OF('named.oid')}`;

const isPublished = (publication: string): string =>
  `exists (select from pg_catalog.pg_publication_tables published where published.pubname = ${literal(publication)}
    and published.schemaname = root_schema.nspname and published.tablename = root.relname)`;

const valuesOf = (qualified: string, place: number): string => {
  const { schema, table } = partsOfTable(qualified) ?? { schema: '', table: qualified };
  return `(${place}, ${literal(schema)}, ${literal(table)})`;
};

/** What this transaction has changed so far, by table. Counts of earlier transactions of the session may be in it. */
const CHANGED_ROWS = `
select root_schema.nspname, root.relname,
  sum(counted.n_tup_ins)::text, sum(counted.n_tup_upd)::text, sum(counted.n_tup_del)::text
from pg_catalog.pg_stat_xact_user_tables counted
${ROOT_OF('counted.relid')}
where counted.n_tup_ins + counted.n_tup_upd + counted.n_tup_del > 0
group by 1, 2`;

/** The mark comes before every row of the transaction in the change log. */
export const markAndBaseline = (mark: string | null): string =>
  mark === null
    ? CHANGED_ROWS
    : `select pg_catalog.pg_logical_emit_message(true, 'service.action', ${literal(mark)});${CHANGED_ROWS}`;

/** What is deferred until COMMIT happens now, so that its rows are counted. */
export const AFTER_STATEMENT = `set constraints all immediate;${CHANGED_ROWS}`;

export const COMMIT = 'commit;select pg_catalog.pg_current_wal_insert_lsn()::text';

/** What became of a transaction whose answer was lost, whether somebody still works in it, and where the log stands. */
export const fateOf = (xid: string): string => `
select pg_catalog.pg_xact_status(${literal(xid)}::xid8), pg_catalog.pg_current_wal_insert_lsn()::text`;

/** Ends the session that still holds the transaction, where this role may. */
export const endHolderOf = (xid: string): string => `
select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity
where backend_xid = ${literal(xid)}::xid8::xid and usename = current_user and pid <> pg_catalog.pg_backend_pid()`;
