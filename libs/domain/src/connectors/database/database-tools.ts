import { digestOfJson, type JsonObject } from '#libs/crypto';

import type { SideEffect, ToolDescription } from '../connector-driver.port.js';
import { FREE_STATEMENT_SCHEMA, schemaOfArgument } from './database-arguments.js';
import type { DatabaseConfig, DatabaseTool } from './database-config.js';
import type { OwnTool } from './database-tool.reader.js';

/**
 * What a call takes beside its statement, at most: a connection with TLS and the sign-in, the questions before and after
 * the statement, COMMIT, and asking what became of a COMMIT whose answer was lost.
 */
const AROUND_STATEMENT_MS = 10_000;

/** What a fixed statement does: its own grammar says it, and `unknown` where it has none. */
export type SideEffectOfSql = (sql: string) => SideEffect;

/**
 * The tools of a connector: `query`, `execute`, and those of its config in its order. `execute` is a write here; that a
 * call of it is destructive is for its statement to say, call by call (`ConnectorDriver.sideEffectOf`).
 */
export const describeDatabaseTools = (
  config: DatabaseConfig,
  sideEffectOfSql: SideEffectOfSql,
): readonly ToolDescription[] => [
  ownTool(config, 'query'),
  ownTool(config, 'execute'),
  ...config.tools.map((tool) => namedTool(config, tool, sideEffectOfSql(tool.sql))),
];

/** As {@link describeDatabaseTools}, for whoever has no grammar at hand: what a named tool does is then unknown. */
export const databaseToolsOf = (config: DatabaseConfig): readonly ToolDescription[] =>
  describeDatabaseTools(config, () => 'unknown');

const OWN: Readonly<Record<OwnTool, Pick<ToolDescription, 'description' | 'title' | 'sideEffect' | 'callsMayBe'>>> = {
  query: {
    title: 'query the database',
    description:
      'Reads with one SELECT, in a transaction that cannot write. Answers rows as objects; numbers beyond 15 digits and decimals are strings.',
    sideEffect: 'read',
  },
  execute: {
    title: 'change the database',
    description:
      'Runs one INSERT, UPDATE, DELETE or MERGE in a transaction of its own. It is rolled back where it changes more rows than the connector allows.',
    sideEffect: 'write',
    callsMayBe: ['destructive'],
  },
};

/** Agents that have several databases must tell them apart, and know how their tables are called. */
const whereOf = ({ database, schemas }: DatabaseConfig): string => {
  const [first = '', ...others] = schemas;
  const named = others.length === 0 ? '' : ` Tables of ${others.join(', ')} are named with their schema.`;
  return `The database is ${database} (PostgreSQL); a table without a schema is one of ${first}.${named}`;
};

const ownTool = (config: DatabaseConfig, name: OwnTool): ToolDescription => ({
  name,
  ...OWN[name],
  description: `${OWN[name].description ?? ''} ${whereOf(config)}`,
  ...termsOf(config, OWN[name].sideEffect),
  digest: digestOfJson({ connection: connectionOf(config), tool: name }),
  inputSchema: FREE_STATEMENT_SCHEMA,
});

const namedTool = (config: DatabaseConfig, tool: DatabaseTool, sideEffect: SideEffect): ToolDescription => ({
  name: tool.name,
  description: tool.description,
  ...(tool.title === undefined ? {} : { title: tool.title }),
  sideEffect,
  ...termsOf(config, sideEffect),
  digest: digestOfJson({ connection: connectionOf(config), tool: tool as unknown as JsonObject }),
  inputSchema: inputSchemaOf(tool),
});

/** Only what reads may be sent again: a write whose answer is lost has an outcome that the database is asked for. */
const termsOf = (
  { statement_timeout_ms, witness }: DatabaseConfig,
  sideEffect: SideEffect,
): Pick<ToolDescription, 'isRepeatable' | 'timeoutMs' | 'changeLog'> => {
  const isRead = sideEffect === 'read';
  const terms = { isRepeatable: isRead, timeoutMs: statement_timeout_ms + AROUND_STATEMENT_MS };
  return isRead || !witness.enabled ? terms : { ...terms, changeLog: { timeoutMs: witness.timeout_ms } };
};

/**
 * What a call sends beside the statement, where to, what it may change and how it is confirmed. Left out is what says
 * nothing of a call: the other tools, and whether changes that pass the service by are reported.
 */
const connectionOf = ({ tools: _tools, watch_bypass: _watch, ...connection }: DatabaseConfig): JsonObject =>
  connection as unknown as JsonObject;

const inputSchemaOf = ({ args }: DatabaseTool): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(args.map((arg) => [arg.name, schemaOfArgument(arg)])),
  required: args.filter(({ required }) => required).map(({ name }) => name),
  additionalProperties: false,
});
