import { canonicalBytes, type JsonObject, type JsonValue } from '#libs/crypto';

import { isOneLine } from '../../kernel/index.js';
import { ConfigProblems } from '../config-problems.js';
import { ConfigReader } from '../config-reader.js';
import { withoutAbsent } from '../tool-words.reader.js';
import {
  DATABASE_LIMITS,
  type DatabaseConfig,
  type DatabaseWitness,
  SSL_MODES,
  type SslMode,
} from './database-config.js';
import { hostFault } from './database-host.js';
import { DATABASE_PLACES } from './database-keys.js';
import { functionFault, schemaFault, tableFault } from './database-names.js';
import { readDatabaseTools } from './database-tool.reader.js';

/** PostgreSQL's rule for the name of a slot; a publication keeps to it, too, so that nobody has to quote it. */
const SLOT_NAME = /^[a-z0-9_]{1,63}$/;

export interface DatabaseConfigSettings {
  /** Plain text is for development only. */
  readonly isProduction: boolean;
}

/**
 * Reads the config of a database connector and fills the defaults in. What it gives, read again, is itself.
 * @throws {DomainError} validation_failed, `param` the first problem's field, for example `config.schemas[1]`
 */
export const readDatabaseConfig = (value: JsonValue, settings: DatabaseConfigSettings): DatabaseConfig => {
  const problems = new ConfigProblems(value);
  const config = readConfig(value, settings, problems);
  problems.throwIfAny();
  return config as DatabaseConfig;
};

const readConfig = (
  value: JsonValue,
  settings: DatabaseConfigSettings,
  problems: ConfigProblems,
): DatabaseConfig | undefined => {
  const reader = ConfigReader.of(value, 'config', problems);
  if (reader === null) return undefined;
  const bytes = canonicalBytes(value).byteLength;
  if (bytes > DATABASE_LIMITS.configBytes) {
    problems.report('config', `must have at most ${DATABASE_LIMITS.configBytes} bytes, not ${bytes}.`);
    return undefined;
  }
  readAuth(reader);
  const place = readPlace(reader, settings);
  const schemas = readSchemas(reader);
  const limits = readLimits(reader);
  const allowed = readAllowed(reader);
  const witness = readWitness(reader);
  const watchBypass = reader.flag('watch_bypass') ?? false;
  if (watchBypass && !witness.enabled)
    reader.report('watch_bypass', 'needs witness.enabled: what passes by is seen in the change log.');
  const tools = readDatabaseTools(reader, { isWitnessed: witness.enabled });
  reader.refuseUnknown(DATABASE_PLACES.config);
  return {
    ...place,
    auth: { kind: 'database' },
    schemas,
    ...limits,
    ...allowed,
    tools,
    witness,
    watch_bypass: watchBypass,
  };
};

/** It may say what there is no choice about, so that a config as stored can be sent again. */
const readAuth = (reader: ConfigReader): void => {
  if (!reader.has('auth')) return;
  const auth = ConfigReader.of(reader.raw('auth'), reader.at('auth'), reader.problems);
  auth?.choice('kind', ['database']);
  auth?.refuseUnknown(DATABASE_PLACES.auth);
};

const readPlace = (
  reader: ConfigReader,
  settings: DatabaseConfigSettings,
): Pick<DatabaseConfig, 'host' | 'port' | 'database' | 'ssl'> => {
  const host = reader.text('host', { maxCharacters: DATABASE_LIMITS.hostCharacters, isRequired: true });
  const fault = host === undefined ? null : hostFault(host);
  if (fault !== null) reader.report('host', fault);
  const { port } = DATABASE_LIMITS;
  return {
    host: host ?? '',
    port: reader.integer('port', port) ?? port.fallback,
    database: readDatabaseName(reader) ?? '',
    ssl: readSsl(reader, settings),
  };
};

const readDatabaseName = (reader: ConfigReader): string | undefined => {
  const name = reader.text('database', { maxCharacters: DATABASE_LIMITS.nameBytes, isRequired: true });
  if (name === undefined) return undefined;
  if (name !== '' && Buffer.byteLength(name) <= DATABASE_LIMITS.nameBytes && isOneLine(name)) return name;
  return reader.report(
    'database',
    `must be the name of a database: 1 to ${DATABASE_LIMITS.nameBytes} bytes of text without control characters.`,
  );
};

const readSsl = (reader: ConfigReader, { isProduction }: DatabaseConfigSettings): SslMode => {
  const ssl = reader.choice('ssl', SSL_MODES) ?? 'verify-full';
  if (ssl === 'disable' && isProduction)
    reader.report('ssl', 'must be require or verify-full: the password and the data would be sent in the clear.');
  return ssl;
};

const readLimits = (
  reader: ConfigReader,
): Pick<
  DatabaseConfig,
  'statement_timeout_ms' | 'lock_timeout_ms' | 'max_rows_changed' | 'max_rows_returned' | 'max_result_bytes'
> => {
  const { statementTimeoutMs, lockTimeoutMs, rowsChanged, rowsReturned, resultBytes } = DATABASE_LIMITS;
  const statementMs = reader.integer('statement_timeout_ms', statementTimeoutMs) ?? statementTimeoutMs.fallback;
  const lockMs = reader.integer('lock_timeout_ms', { min: lockTimeoutMs.min, max: statementTimeoutMs.max });
  if (lockMs !== undefined && lockMs > statementMs)
    reader.report('lock_timeout_ms', `must not be above statement_timeout_ms, which is ${statementMs}.`);
  return {
    statement_timeout_ms: statementMs,
    lock_timeout_ms: lockMs ?? Math.min(lockTimeoutMs.fallback, statementMs),
    max_rows_changed: reader.integer('max_rows_changed', rowsChanged) ?? rowsChanged.fallback,
    max_rows_returned: reader.integer('max_rows_returned', rowsReturned) ?? rowsReturned.fallback,
    max_result_bytes: reader.integer('max_result_bytes', resultBytes) ?? resultBytes.fallback,
  };
};

const readAllowed = (
  reader: ConfigReader,
): Pick<DatabaseConfig, 'allowed_functions' | 'side_effect_tables' | 'allow_truncate' | 'allow_catalog'> => {
  const { allowedFunctions, sideEffectTables } = DATABASE_LIMITS;
  return {
    allowed_functions: readNames(reader, 'allowed_functions', { min: 0, max: allowedFunctions }, functionFault),
    side_effect_tables: readNames(reader, 'side_effect_tables', { min: 0, max: sideEffectTables }, tableFault),
    allow_truncate: reader.flag('allow_truncate') ?? false,
    allow_catalog: reader.flag('allow_catalog') ?? false,
  };
};

const readSchemas = (reader: ConfigReader): readonly string[] =>
  reader.has('schemas')
    ? readNames(reader, 'schemas', { min: 1, max: DATABASE_LIMITS.schemas }, schemaFault)
    : ['public'];

const readNames = (
  reader: ConfigReader,
  key: string,
  count: { readonly min: number; readonly max: number },
  faultOf: (name: string) => string | null,
): readonly string[] => {
  const entries = reader.has(key) ? (reader.list(key, count) ?? []) : [];
  const names: string[] = [];
  entries.forEach((entry, index) => {
    const fault = typeof entry === 'string' ? faultOf(entry) : 'must be a string.';
    if (fault !== null) reader.report(`${key}[${index}]`, fault);
    else if (names.includes(entry as string)) reader.report(`${key}[${index}]`, 'is in the list already.');
    else names.push(entry as string);
  });
  return names;
};

const readWitness = (reader: ConfigReader): DatabaseWitness => {
  const { fallback } = DATABASE_LIMITS.witnessTimeoutMs;
  const none: DatabaseWitness = { enabled: false, timeout_ms: fallback };
  if (!reader.has('witness')) return none;
  const witness = ConfigReader.of(reader.raw('witness'), reader.at('witness'), reader.problems);
  if (witness === null) return none;
  const names = { slot: readSlotName(witness, 'slot'), publication: readSlotName(witness, 'publication') };
  const enabled = witness.flag('enabled') ?? false;
  const timeoutMs = witness.integer('timeout_ms', DATABASE_LIMITS.witnessTimeoutMs) ?? fallback;
  witness.refuseUnknown(DATABASE_PLACES.witness);
  return { enabled, ...withoutAbsent(names), timeout_ms: timeoutMs };
};

const readSlotName = (witness: ConfigReader, key: 'slot' | 'publication'): string | undefined => {
  const name = witness.raw(key);
  if (name === undefined) return undefined;
  if (typeof name === 'string' && SLOT_NAME.test(name)) return name;
  return witness.report(key, 'must have 1 to 63 lower-case letters, digits or underscores.');
};

/** The JSON that is stored and hashed. */
export const storedDatabaseConfigOf = (config: DatabaseConfig): JsonObject => config as unknown as JsonObject;
