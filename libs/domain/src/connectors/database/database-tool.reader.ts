import type { JsonValue } from '#libs/crypto';

import { checkChangePostcondition } from '../../policies/index.js';
import { ConfigReader } from '../config-reader.js';
import { readToolName, readToolTitle, withoutAbsent } from '../tool-words.reader.js';
import { ARGUMENT_TYPES, DATABASE_LIMITS, type DatabaseArgument, type DatabaseTool } from './database-config.js';
import { DATABASE_PLACES } from './database-keys.js';

/** What every connector of the type has beside the tools of its config. */
export const OWN_TOOLS = ['query', 'execute'] as const;
export type OwnTool = (typeof OWN_TOOLS)[number];

/** What a condition can read as `args.<name>`. */
const ARGUMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** Means the prototype to JavaScript readers of the same JSON. */
const REFUSED_NAME = '__proto__';

interface ToolContext {
  readonly isWitnessed: boolean;
}

export const readDatabaseTools = (reader: ConfigReader, context: ToolContext): readonly DatabaseTool[] => {
  if (!reader.has('tools')) return [];
  const tools: DatabaseTool[] = [];
  (reader.list('tools', { min: 0, max: DATABASE_LIMITS.tools }) ?? []).forEach((entry, index) => {
    const tool = readTool(entry, `tools[${index}]`, reader, context);
    if (tool === undefined) return;
    if (tools.some(({ name }) => name === tool.name))
      reader.report(`tools[${index}].name`, 'is the name of another tool already.');
    tools.push(tool);
  });
  return tools;
};

const readTool = (
  value: JsonValue,
  key: string,
  reader: ConfigReader,
  context: ToolContext,
): DatabaseTool | undefined => {
  const tool = ConfigReader.of(value, reader.at(key), reader.problems);
  if (tool === null) return undefined;
  const name = readToolName(tool);
  if (OWN_TOOLS.some((own) => own === name)) tool.report('name', `must not be ${name}, a tool of every database.`);
  const title = readToolTitle(tool, DATABASE_LIMITS.titleCharacters);
  const description = readDescription(tool);
  const sql = readSql(tool);
  const args = readArguments(tool);
  const postcondition = readPostcondition(tool, context);
  tool.refuseUnknown(DATABASE_PLACES.tool);
  if (name === undefined || description === undefined || sql === undefined) return undefined;
  return { name, ...withoutAbsent({ title }), description, sql, args, ...withoutAbsent({ postcondition }) };
};

/** An agent chooses by it, and sees nothing of the statement. */
const readDescription = (tool: ConfigReader): string | undefined => {
  tool.require('description');
  const description = tool.description(DATABASE_LIMITS.descriptionCharacters);
  return description === '' ? tool.report('description', 'must not be empty.') : description;
};

const readSql = (tool: ConfigReader): string | undefined => {
  const sql = tool.text('sql', { maxCharacters: DATABASE_LIMITS.statementBytes, isRequired: true });
  const fault = sql === undefined ? null : statementTextFault(sql);
  return fault === null ? sql : tool.report('sql', `${fault}.`);
};

/** What a text breaks that cannot be a statement whatever it says, as the end of a sentence. */
export const statementTextFault = (sql: string): string | null => {
  if (sql.trim() === '') return 'must hold a statement';
  if (Buffer.byteLength(sql) > DATABASE_LIMITS.statementBytes)
    return `must have at most ${DATABASE_LIMITS.statementBytes} bytes`;
  return sql.includes('\u0000') ? 'must not hold the character U+0000' : null;
};

const readArguments = (tool: ConfigReader): readonly DatabaseArgument[] => {
  if (!tool.has('args')) return [];
  const args: DatabaseArgument[] = [];
  (tool.list('args', { min: 0, max: DATABASE_LIMITS.args }) ?? []).forEach((entry, index) => {
    const arg = readArgument(entry, tool.at(`args[${index}]`), tool);
    if (arg === undefined) return;
    if (args.some(({ name }) => name === arg.name))
      tool.report(`args[${index}].name`, 'is the name of another argument already.');
    args.push(arg);
  });
  return args;
};

const readArgument = (value: JsonValue, path: string, tool: ConfigReader): DatabaseArgument | undefined => {
  const arg = ConfigReader.of(value, path, tool.problems);
  if (arg === null) return undefined;
  const name = arg.text('name', { maxCharacters: 64, isRequired: true });
  const isUsable = name !== undefined && ARGUMENT_NAME.test(name) && name !== REFUSED_NAME;
  if (name !== undefined && !isUsable)
    arg.report('name', 'must have 1 to 64 letters, digits or underscores, no digit first.');
  arg.require('type');
  const type = arg.choice('type', ARGUMENT_TYPES);
  const description = arg.description(DATABASE_LIMITS.descriptionCharacters);
  const required = arg.flag('required') ?? true;
  arg.refuseUnknown(DATABASE_PLACES.argument);
  if (!isUsable || type === undefined) return undefined;
  return { name, type, ...withoutAbsent({ description }), required };
};

/** An error's position is `line:column` in characters. */
const readPostcondition = (tool: ConfigReader, { isWitnessed }: ToolContext): string | undefined => {
  const source = tool.text('postcondition', { maxCharacters: DATABASE_LIMITS.postconditionCharacters });
  if (source === undefined) return undefined;
  if (!isWitnessed) tool.report('postcondition', 'needs witness.enabled: it is asked of what the change log holds.');
  for (const { line, column, message } of checkChangePostcondition(source))
    tool.report('postcondition', `has an error at ${line}:${column}. ${message}`);
  return source;
};
