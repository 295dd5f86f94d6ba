import type { JsonObject, JsonValue } from '#libs/crypto';

import type { ArgumentFault, RequestPreview } from '../connector-driver.port.js';
import type { RequestFacts } from '../request-facts.js';
import type { HttpRequest } from '../http-request.js';
import { argumentsFault } from './rest-arguments.js';
import { costFault, costOfCall } from './rest-cost.js';
import { REST_LIMITS, type RestConfig, type RestTool } from './rest-config.js';
import { isHeaderValue } from '../header-names.js';
import {
  basePathOf,
  cleanedPath,
  fillPath,
  isPathValue,
  isUnderAnyPrefix,
  parsePathTemplate,
  type PathTemplate,
} from './rest-paths.js';
import { isWellFormedInQuery, queryParametersOf, textOf } from './rest-query.js';

export type BuiltRequest =
  { readonly ok: true; readonly request: HttpRequest } | { readonly ok: false; readonly fault: ArgumentFault };

const USER_AGENT = 'Service-Connectors/1.0';
const ACTION_ID_HEADER = 'Service-Action-Id';
const TRACE_HEADER = 'traceparent';

/** Builds the request of a tool, or names the first argument that builds none. Pure: nothing is sent. */
export const buildRestRequest = (
  config: RestConfig,
  tool: RestTool,
  args: JsonObject,
  actionId: string,
  traceparent: string | null = null,
): BuiltRequest => {
  const fault = argumentsFault(tool, args) ?? costFault(tool, args) ?? placesFault(tool, args);
  if (fault !== null) return { ok: false, fault };
  const { origin, basePath, template } = targetOf(config, tool);
  const path = template === null ? null : fillPath(template, (name) => textOf(args[name] ?? ''));
  if (path === null || cleanedPath(path) !== path || !isUnderAnyPrefix(path, config.allowed_path_prefixes)) {
    const message = 'The arguments lead to a path outside of what the connector allows.';
    return { ok: false, fault: { param: 'args', message } };
  }
  const body = bodyOf(tool, args);
  return {
    ok: true,
    request: {
      method: tool.method,
      origin,
      path: `${basePath}${path}`,
      query: queryOf(tool, args),
      headers: headersOf(config, tool, args, { actionId, traceparent, hasBody: body !== null }),
      body,
      sensitive: sensitiveValuesOf(tool, args),
    },
  };
};

/** Values of a call that are kept of no answer, neither to it nor to the read that confirms it. */
export const sensitiveValuesOf = (tool: RestTool, args: JsonObject): readonly JsonValue[] =>
  placed(tool, args)
    .filter(({ arg }) => arg.sensitive)
    .map(({ value }) => value);

/** `{}` when the arguments build no request (rule POLICY-5). */
export const restRequestFacts = (config: RestConfig, tool: RestTool, args: JsonObject): RequestFacts => {
  const built = buildRestRequest(config, tool, args, '');
  if (!built.ok) return {};
  const { method, path } = built.request;
  const http = { host: targetOf(config, tool).host, method, path };
  const cost = costOfCall(tool, args);
  return cost === null ? { http } : { cost, http };
};

export const previewOfRestRequest = (config: RestConfig, tool: RestTool, args: JsonObject): RequestPreview => {
  const built = buildRestRequest(config, tool, args, '');
  if (!built.ok) return { request: null, fault: built.fault.message };
  const { method, origin, path, query } = built.request;
  return { request: { method, url: `${origin}${path}${query === '' ? '' : `?${query}`}` }, fault: null };
};

/** Where a tool sends, worked out from its config alone. */
interface ToolTarget {
  readonly config: RestConfig;
  readonly origin: string;
  readonly host: string;
  readonly basePath: string;
  /** Null for a path that no config may have. */
  readonly template: PathTemplate | null;
}

/** A folded config is one object until it changes, and so are the tools in it. */
const targets = new WeakMap<RestTool, ToolTarget>();

const targetOf = (config: RestConfig, tool: RestTool): ToolTarget => {
  const known = targets.get(tool);
  if (known?.config === config) return known;
  const { origin, host } = new URL(config.base_url);
  const target = {
    config,
    origin,
    host,
    basePath: basePathOf(config.base_url),
    template: parsePathTemplate(tool.path),
  };
  targets.set(tool, target);
  return target;
};

interface PlacedArgument {
  readonly name: string;
  readonly arg: RestTool['args'][string];
  readonly value: JsonValue;
}

/** Arguments that were given, in the order of the config, so that equal calls send equal bytes. */
const placed = (
  tool: RestTool,
  args: JsonObject,
  place?: 'path' | 'query' | 'body' | 'header',
): readonly PlacedArgument[] =>
  Object.entries(tool.args)
    .filter(([name, arg]) => (place === undefined || arg.in === place) && Object.hasOwn(args, name))
    .map(([name, arg]) => ({ name, arg, value: args[name] as JsonValue }));

const placesFault = (tool: RestTool, args: JsonObject): ArgumentFault | null => {
  for (const { name, arg, value } of placed(tool, args)) {
    const param = `args.${name}`;
    if (arg.in === 'path' && !isPathValue(textOf(value))) {
      const message = `${param} becomes part of a path: it may hold 1 to 256 letters, digits or ._~- and is not "." or "..".`;
      return { param, message };
    }
    if (arg.in === 'header' && !isHeaderValue(textOf(value), REST_LIMITS.headerValueBytes)) {
      const message = `${param} becomes a header: one line of at most ${REST_LIMITS.headerValueBytes} visible ASCII characters, without spaces at its ends.`;
      return { param, message };
    }
    if (arg.in === 'query' && !isWellFormedInQuery(value)) {
      return { param, message: `${param} holds half a character.` };
    }
  }
  return null;
};

const queryOf = (tool: RestTool, args: JsonObject): string =>
  placed(tool, args, 'query')
    .flatMap(({ name, arg, value }) => queryParametersOf(name, arg, value))
    .join('&');

const bodyOf = (tool: RestTool, args: JsonObject): string | null => {
  if (!Object.values(tool.args).some((arg) => arg.in === 'body')) return null;
  const members = placed(tool, args, 'body').map(({ name, value }) => [name, value] as const);
  return JSON.stringify(Object.fromEntries(members));
};

/** What headers say that no config and no argument does. */
interface OfThisCall {
  readonly actionId: string;
  readonly traceparent: string | null;
  readonly hasBody: boolean;
}

const headersOf = (
  config: RestConfig,
  tool: RestTool,
  args: JsonObject,
  { actionId, traceparent, hasBody }: OfThisCall,
): readonly (readonly [string, string])[] => {
  const configured = Object.entries(config.headers ?? {});
  const isConfigured = (name: string): boolean => configured.some(([other]) => other.toLowerCase() === name);
  return [
    ['User-Agent', USER_AGENT],
    ...(isConfigured('accept') ? [] : [['Accept', 'application/json'] as const]),
    ...(hasBody && !isConfigured('content-type') ? [['Content-Type', 'application/json'] as const] : []),
    // Content-Type of a config is that of its bodies.
    ...configured.filter(([name]) => hasBody || name.toLowerCase() !== 'content-type'),
    ...(config.send_action_id ? [[ACTION_ID_HEADER, actionId] as const] : []),
    ...(traceparent === null || isConfigured(TRACE_HEADER) ? [] : [[TRACE_HEADER, traceparent] as const]),
    ...(tool.idempotency_header === undefined ? [] : [[tool.idempotency_header, actionId] as const]),
    ...placed(tool, args, 'header').map(({ arg, value }) => [arg.header ?? '', textOf(value)] as const),
  ];
};
