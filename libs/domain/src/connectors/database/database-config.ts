import type { JsonObject } from '#libs/crypto';

import type { ConnectorId } from '../../kernel/index.js';

/** What a config may hold at most (docs/connectors-database.md, The config). */
export const DATABASE_LIMITS = {
  configBytes: 65_536,
  /** Of a name in PostgreSQL (NAMEDATALEN less its end). */
  nameBytes: 63,
  hostCharacters: 253,
  port: { min: 1, max: 65_535, fallback: 5_432 },
  schemas: 16,
  statementTimeoutMs: { min: 100, max: 60_000, fallback: 10_000 },
  lockTimeoutMs: { min: 1, fallback: 2_000 },
  rowsChanged: { min: 1, max: 10_000, fallback: 100 },
  rowsReturned: { min: 1, max: 10_000, fallback: 1_000 },
  resultBytes: { min: 1_024, max: 1_048_576, fallback: 1_048_576 },
  allowedFunctions: 128,
  sideEffectTables: 128,
  /** With `query` and `execute` they are 64. */
  tools: 62,
  args: 32,
  titleCharacters: 80,
  descriptionCharacters: 1_024,
  postconditionCharacters: 2_048,
  statementBytes: 65_536,
  /** Of a call of `query` or `execute`. */
  params: 100,
  witnessTimeoutMs: { min: 500, max: 60_000, fallback: 5_000 },
} as const;

/**
 * How the connection is secured. `require` encrypts and asks nobody who answers; `verify-full` also proves the name of the
 * server by its certificate. `disable` sends in the clear, and is for development only.
 */
export const SSL_MODES = ['disable', 'require', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** Types of arguments, each with one form in JSON and one text that PostgreSQL reads. */
export const ARGUMENT_TYPES = [
  ...(['string', 'integer', 'number', 'boolean', 'numeric'] as const),
  ...(['bigint', 'timestamp', 'date', 'uuid', 'json'] as const),
] as const;
export type ArgumentType = (typeof ARGUMENT_TYPES)[number];

/** The argument at index n is the parameter `$n+1` of the statement. */
export interface DatabaseArgument {
  readonly name: string;
  readonly type: ArgumentType;
  readonly description?: string;
  /** One that is not may be left out or null: its parameter is then NULL. */
  readonly required: boolean;
}

/** A fixed statement with typed parameters. */
export interface DatabaseTool {
  readonly name: string;
  /** A verb phrase that goes on after `wants to`. */
  readonly title?: string;
  readonly description: string;
  readonly sql: string;
  readonly args: readonly DatabaseArgument[];
  /** CEL over `args`, `rows` and `row_count`, asked of what the change log holds of the call. */
  readonly postcondition?: string;
}

export interface DatabaseWitness {
  readonly enabled: boolean;
  /** Absent: the connector's own name, see {@link slotOf}. */
  readonly slot?: string;
  /** Absent: the connector's own name, see {@link publicationOf}. */
  readonly publication?: string;
  /** How long the change log is waited for. */
  readonly timeout_ms: number;
}

/** A config as stored: every default filled in. Members without a default are absent when they were not given. */
export interface DatabaseConfig {
  /** A name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** Not a choice: it tells, as in every config, which credential fits. */
  readonly auth: { readonly kind: 'database' };
  readonly ssl: SslMode;
  /** An unqualified name of a statement means the first of them, and no other. */
  readonly schemas: readonly string[];
  readonly statement_timeout_ms: number;
  readonly lock_timeout_ms: number;
  readonly max_rows_changed: number;
  readonly max_rows_returned: number;
  readonly max_result_bytes: number;
  /** `name`, or `schema.name`. */
  readonly allowed_functions: readonly string[];
  /** `schema.table`: what triggers and cascades may change beside the tables a statement names. */
  readonly side_effect_tables: readonly string[];
  readonly allow_truncate: boolean;
  readonly allow_catalog: boolean;
  readonly tools: readonly DatabaseTool[];
  readonly witness: DatabaseWitness;
  readonly watch_bypass: boolean;
}

/** What the log holds was checked before it was written. */
export const databaseConfigOf = (stored: JsonObject): DatabaseConfig => stored as unknown as DatabaseConfig;

/** The replication slot that the connector's decoder reads. */
export const slotOf = ({ witness }: DatabaseConfig, connector: ConnectorId): string =>
  witness.slot ?? ownName(connector);

/** The publication that says which tables its change log holds. */
export const publicationOf = ({ witness }: DatabaseConfig, connector: ConnectorId): string =>
  witness.publication ?? ownName(connector);

/** PostgreSQL takes lower-case letters, digits and underscores in the name of a slot. */
const ownName = (connector: ConnectorId): string => `ags_${connector.replace(/^con_/, '').toLowerCase()}`;

/** Where the calls go, for the egress rules. An IPv6 address stands in brackets there. */
export const destinationOf = ({ host, port, ssl }: DatabaseConfig): string =>
  `postgres://${host.includes(':') ? `[${host}]` : host}:${port}/?sslmode=${ssl}`;
