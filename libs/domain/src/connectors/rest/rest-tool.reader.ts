import type { JsonValue } from '#libs/crypto';

import { ConfigReader } from '../config-reader.js';
import { readToolName, readToolTitle, withoutAbsent } from '../tool-words.reader.js';
import { readPostcondition, readReadBack } from './read-back.reader.js';
import { readArguments } from './rest-argument.reader.js';
import { HTTP_METHODS, type HttpMethod } from '../http-request.js';
import { REST_LIMITS, type RestArgument, type RestTool, sideEffectOfMethod } from './rest-config.js';
import { isAllowedHeaderName } from '../header-names.js';
import { readCost } from './rest-cost.js';
import { REST_PLACES } from './rest-keys.js';
import { cleanedPath, fillPath, isUnderAnyPrefix, parsePathTemplate, placeholdersOf } from './rest-paths.js';

/** From harmless to grave: a tool may be declared graver than its method says, never lighter. */
const SIDE_EFFECTS = ['read', 'write', 'destructive'] as const;
const METHODS_WITHOUT_BODY: readonly HttpMethod[] = ['GET', 'HEAD'];

/** What the rest of the config says about its tools. */
export interface ToolContext {
  readonly allowedMethods: readonly HttpMethod[];
  readonly allowedPathPrefixes: readonly string[];
  /** Lower-case names already taken by default headers and the credential. */
  readonly takenHeaders: ReadonlySet<string>;
  /** Name of the query parameter that carries the credential. */
  readonly credentialParam: string | null;
}

/** Undefined, and problems, when too little of the tool can be read to judge others by it. */
export const readTool = (
  value: JsonValue,
  path: string,
  context: ToolContext,
  reader: ConfigReader,
): RestTool | undefined => {
  const tool = ConfigReader.of(value, path, reader.problems);
  if (tool === null) return undefined;
  const name = readToolName(tool);
  const title = readToolTitle(tool, REST_LIMITS.titleCharacters);
  const description = tool.description(REST_LIMITS.descriptionCharacters);
  const method = readMethod(tool, context);
  const toolPath = tool.text('path', { maxCharacters: REST_LIMITS.pathCharacters, isRequired: true });
  const sideEffect = readSideEffect(tool, method);
  const idempotent = tool.flag('idempotent');
  const idempotencyHeader = readIdempotencyHeader(tool, context);
  const args = readArguments(tool);
  if (args !== undefined) checkArguments(tool, { path: toolPath, args, method, idempotencyHeader }, context);
  const cost = readCost(tool, args);
  const readback = readReadBack(tool);
  const postcondition = readPostcondition(tool);
  tool.refuseUnknown(REST_PLACES.tool);
  if (name === undefined || method === undefined || toolPath === undefined || args === undefined) return undefined;
  const given = { title, description, idempotency_header: idempotencyHeader, cost, readback, postcondition };
  return {
    name,
    method,
    path: toolPath,
    side_effect: sideEffect ?? sideEffectOfMethod(method),
    idempotent: idempotent ?? METHODS_WITHOUT_BODY.includes(method),
    args,
    ...withoutAbsent(given),
  };
};

interface ReadSoFar {
  readonly path: string | undefined;
  readonly args: Readonly<Record<string, RestArgument>>;
  readonly method: HttpMethod | undefined;
  readonly idempotencyHeader: string | undefined;
}

const checkArguments = (tool: ConfigReader, read: ReadSoFar, context: ToolContext): void => {
  if (read.path !== undefined) checkPath(tool, read.path, read.args, context);
  checkPlaces(tool, read, context);
};

const readMethod = (tool: ConfigReader, context: ToolContext): HttpMethod | undefined => {
  tool.require('method');
  const method = tool.choice('method', HTTP_METHODS);
  if (method !== undefined && !context.allowedMethods.includes(method)) {
    tool.report('method', `is ${method}, which is not among allowed_methods.`);
  }
  return method;
};

const readSideEffect = (tool: ConfigReader, method: HttpMethod | undefined): RestTool['side_effect'] | undefined => {
  const sideEffect = tool.choice('side_effect', SIDE_EFFECTS);
  if (sideEffect === undefined || method === undefined) return sideEffect;
  const least = sideEffectOfMethod(method);
  if (SIDE_EFFECTS.indexOf(sideEffect) >= SIDE_EFFECTS.indexOf(least)) return sideEffect;
  return tool.report('side_effect', `must not be below ${least}, the side effect of ${method}; it may only be raised.`);
};

const readIdempotencyHeader = (tool: ConfigReader, context: ToolContext): string | undefined => {
  const header = tool.text('idempotency_header', { maxCharacters: 64 });
  if (header === undefined) return undefined;
  if (!isAllowedHeaderName(header)) return tool.report('idempotency_header', 'is a header that a config may not set.');
  if (context.takenHeaders.has(header.toLowerCase())) {
    return tool.report('idempotency_header', 'is a header that headers or auth set already.');
  }
  return header;
};

const checkPath = (
  tool: ConfigReader,
  path: string,
  args: Readonly<Record<string, RestArgument>>,
  context: ToolContext,
): void => {
  const template = parsePathTemplate(path);
  if (template === null) {
    tool.report('path', 'must begin with a slash, and each placeholder such as {id} must be one whole segment of it.');
    return;
  }
  const placeholders = placeholdersOf(template);
  const pathArguments = Object.keys(args).filter((name) => args[name]?.in === 'path');
  const isSameSet =
    new Set(placeholders).size === placeholders.length &&
    placeholders.length === pathArguments.length &&
    placeholders.every((name) => pathArguments.includes(name));
  if (!isSameSet) tool.report('path', 'must have as placeholders exactly the arguments in: path, each once.');
  // Any accepted value stands for one segment, so one sample shows where every filled path lies.
  const sample = fillPath(template, () => 'x');
  if (cleanedPath(sample) !== sample || !isUnderAnyPrefix(sample, context.allowedPathPrefixes)) {
    tool.report('path', 'must lie under one of allowed_path_prefixes, on a segment boundary.');
  }
};

const checkPlaces = (
  tool: ConfigReader,
  { args, method, idempotencyHeader }: ReadSoFar,
  context: ToolContext,
): void => {
  const taken = new Set(context.takenHeaders);
  if (idempotencyHeader !== undefined) taken.add(idempotencyHeader.toLowerCase());
  for (const [name, arg] of Object.entries(args)) {
    if (arg.in === 'body' && method !== undefined && METHODS_WITHOUT_BODY.includes(method)) {
      tool.report(`args.${name}.in`, `must not be body: a ${method} request has none.`);
    }
    if (arg.in === 'query' && name === context.credentialParam) {
      tool.report(`args.${name}`, 'is the query parameter that carries the credential.');
    }
    if (arg.header === undefined) continue;
    if (taken.has(arg.header.toLowerCase())) {
      tool.report(`args.${name}.header`, 'is a header that the config or another argument sets already.');
    }
    taken.add(arg.header.toLowerCase());
  }
};
