import type { JsonObject, JsonValue } from '#libs/crypto';

import { checkPostcondition } from '../../policies/index.js';
import { ConfigReader } from '../config-reader.js';
import { firstMemberOf, isExpectPath, templateOf } from './read-back-paths.js';
import { valueFault } from './rest-arguments.js';
import { type ReadBack, REST_LIMITS, type RestTool } from './rest-config.js';
import { REST_PLACES } from './rest-keys.js';

/** The part that can be read before the other tools are known. */
export const readReadBack = (tool: ConfigReader): ReadBack | undefined => {
  if (!tool.has('readback')) return undefined;
  const reader = ConfigReader.of(tool.raw('readback'), tool.at('readback'), tool.problems);
  if (reader === null) return undefined;
  const target = reader.text('tool', { maxCharacters: 64, isRequired: true });
  const args = readValues(reader, 'args');
  const expected = readExpect(reader);
  const consistency = reader.choice('consistency', ['strong', 'eventual']) ?? 'strong';
  const limits = REST_LIMITS.readBackAttempts;
  const attempts = reader.integer('attempts', limits) ?? limits[consistency];
  if (attempts > limits.strong && consistency === 'strong') {
    reader.report('attempts', 'must be 1 without consistency eventual.');
  }
  const intervalMs = reader.integer('interval_ms', REST_LIMITS.readBackIntervalMs);
  const onNotFound = reader.choice('on_not_found', ['gap', 'violation']) ?? 'gap';
  reader.refuseUnknown(REST_PLACES.readback);
  if (target === undefined) return undefined;
  return {
    tool: target,
    ...(args === undefined ? {} : { args }),
    ...(expected === undefined ? {} : { expect: expected }),
    consistency,
    attempts,
    interval_ms: intervalMs ?? REST_LIMITS.readBackIntervalMs.fallback,
    on_not_found: onNotFound,
  };
};

const readValues = (reader: ConfigReader, key: 'args' | 'expect'): JsonObject | undefined => {
  if (!reader.has(key)) return undefined;
  const values = ConfigReader.of(reader.raw(key), reader.at(key), reader.problems);
  for (const [name, value] of Object.entries(values?.object ?? {})) {
    const fault = templateFault(value);
    if (fault !== null) values?.report(name, fault);
  }
  return values?.object;
};

const readExpect = (reader: ConfigReader): JsonObject | undefined => {
  const expected = readValues(reader, 'expect');
  if (expected === undefined) return undefined;
  const paths = Object.keys(expected);
  if (paths.length > REST_LIMITS.expectPaths) {
    reader.report('expect', `must have at most ${REST_LIMITS.expectPaths} paths, not ${paths.length}.`);
  }
  for (const path of paths) {
    if (!isExpectPath(path)) {
      reader.report(`expect.${path}`, 'must be a path such as body.status or body.items[0].id.');
    }
  }
  return expected;
};

const templateFault = (value: JsonValue): string | null =>
  typeof value === 'string' && (value.includes('{{') || value.includes('}}')) && templateOf(value) === null
    ? 'must be a template as a whole or not at all, such as {{args.id}} or {{result.body.id}}.'
    : null;

/** Problems that need the whole list of tools: the target, its arguments, and the arguments that templates name. */
export const checkReadBack = (reader: ConfigReader, tool: RestTool, tools: readonly RestTool[]): void => {
  const readBack = tool.readback;
  if (readBack === undefined) return;
  if (tool.side_effect === 'read') reader.report('readback', 'belongs to a tool that writes; this one reads.');
  const target = tools.find(({ name }) => name === readBack.tool);
  if (target === undefined || target.side_effect !== 'read' || !target.idempotent) {
    reader.report('readback.tool', 'must name an idempotent read tool of this connector.');
    return;
  }
  checkTargetArguments(reader, readBack.args ?? {}, target);
  for (const [key, values] of Object.entries({ args: readBack.args, expect: readBack.expect })) {
    for (const [name, value] of Object.entries(values ?? {})) {
      if (!isKnownSource(value, tool)) {
        reader.report(`readback.${key}.${name}`, 'is a template of an argument that this tool does not have.');
      }
    }
  }
};

const checkTargetArguments = (reader: ConfigReader, given: JsonObject, target: RestTool): void => {
  for (const [name, value] of Object.entries(given)) {
    const arg = Object.hasOwn(target.args, name) ? target.args[name] : undefined;
    if (arg === undefined) {
      reader.report(`readback.args.${name}`, `is not an argument of the tool ${target.name}.`);
    } else if (templateOf(value) === null) {
      const fault = valueFault(arg, value);
      if (fault !== null) reader.report(`readback.args.${name}`, `${fault}.`);
    }
  }
  const missing = Object.entries(target.args).find(([name, arg]) => arg.required && !Object.hasOwn(given, name));
  if (missing !== undefined) {
    reader.report('readback.args', `must have ${missing[0]}, which the tool ${target.name} requires.`);
  }
};

const isKnownSource = (value: JsonValue, tool: RestTool): boolean => {
  const template = templateOf(value);
  if (template?.root !== 'args') return true;
  const name = firstMemberOf(template);
  return name !== null && Object.hasOwn(tool.args, name);
};

/** An error's position is `line:column` in characters. */
export const readPostcondition = (tool: ConfigReader): string | undefined => {
  const source = tool.text('postcondition', { maxCharacters: REST_LIMITS.postconditionCharacters });
  if (source === undefined) return undefined;
  if (!tool.has('readback')) tool.report('postcondition', 'needs a readback, whose answer it reads.');
  for (const { line, column, message } of checkPostcondition(source)) {
    tool.report('postcondition', `has an error at ${line}:${column}. ${message}`);
  }
  return source;
};
