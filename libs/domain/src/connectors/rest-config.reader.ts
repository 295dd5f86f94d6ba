import { canonicalBytes, type JsonObject, type JsonValue } from '#libs/crypto';

import { ConfigProblems } from './config-problems.js';
import { ConfigReader } from './config-reader.js';
import { checkReadBack } from './read-back.reader.js';
import {
  REST_LIMITS,
  REST_METHODS,
  type RestAuth,
  type RestConfig,
  type RestMethod,
  type RestTool,
} from './rest-config.js';
import { isAllowedHeaderName, isCredentialHeaderName, isHeaderValue } from './rest-headers.js';
import { isUnderAnyPrefix, literalPathFault } from './rest-paths.js';
import { readTool, type ToolContext } from './rest-tool.reader.js';

const KEYS = [
  'base_url',
  'auth',
  'allowed_methods',
  'allowed_path_prefixes',
  'timeout_ms',
  'max_response_bytes',
  'redirects',
  'send_action_id',
  'headers',
  'test',
  'tools',
] as const;

const CREDENTIAL_PARAM = /^[A-Za-z0-9._~-]{1,64}$/;
/** Nothing a URL parser would drop, decode or read as userinfo, query or fragment. */
const BASE_URL = /^https?:\/\/[^\s\p{Cc}\\@?#/]+(?:\/[\x21-\x7e]*)?$/u;

export interface RestConfigSettings {
  /** Plain http is for development only. */
  readonly isProduction: boolean;
}

/**
 * Reads a REST connector config by every rule of document 3 and fills the defaults in.
 * @throws {DomainError} validation_failed, `param` the first problem's field, for example `config.tools[1].readback.tool`
 */
export const readRestConfig = (value: JsonValue, settings: RestConfigSettings): RestConfig => {
  const problems = new ConfigProblems();
  const config = readConfig(value, settings, problems);
  problems.throwIfAny();
  return config as RestConfig;
};

const readConfig = (
  value: JsonValue,
  settings: RestConfigSettings,
  problems: ConfigProblems,
): RestConfig | undefined => {
  const reader = ConfigReader.of(value, 'config', problems);
  if (reader === null) return undefined;
  const bytes = canonicalBytes(value).byteLength;
  if (bytes > REST_LIMITS.configBytes) {
    problems.report('config', `A config has at most ${REST_LIMITS.configBytes} bytes, not ${bytes}.`);
    return undefined;
  }
  const baseUrl = readBaseUrl(reader, settings);
  const auth = readAuth(reader);
  const methods = readMethods(reader);
  const prefixes = readPrefixes(reader);
  const { timeoutMs: timeout, maxResponseBytes: response } = REST_LIMITS;
  const timeoutMs = reader.integer('timeout_ms', timeout) ?? timeout.fallback;
  const maxResponseBytes = reader.integer('max_response_bytes', response) ?? response.fallback;
  const redirects = reader.choice('redirects', ['none', 'same_host']) ?? 'none';
  const sendActionId = reader.flag('send_action_id') ?? true;
  const headers = readHeaders(reader, auth);
  const test = readTest(reader, prefixes);
  const tools = readTools(reader, {
    allowedMethods: methods,
    allowedPathPrefixes: prefixes,
    takenHeaders: new Set(
      [...Object.keys(headers ?? {}), ...credentialHeaders(auth)].map((name) => name.toLowerCase()),
    ),
    credentialParam: auth.param ?? null,
  });
  reader.refuseUnknown(KEYS);
  return {
    base_url: baseUrl ?? '',
    auth,
    allowed_methods: methods,
    allowed_path_prefixes: prefixes,
    timeout_ms: timeoutMs,
    max_response_bytes: maxResponseBytes,
    redirects,
    send_action_id: sendActionId,
    ...(headers === undefined ? {} : { headers }),
    ...(test === undefined ? {} : { test }),
    tools,
  };
};

const readBaseUrl = (reader: ConfigReader, { isProduction }: RestConfigSettings): string | undefined => {
  const text = reader.text('base_url', { maxCharacters: REST_LIMITS.baseUrlCharacters, isRequired: true });
  if (text === undefined) return undefined;
  if (isProduction && !text.startsWith('https://'))
    return reader.report('base_url', 'base_url must begin with https://.');
  if (!BASE_URL.test(text) || !URL.canParse(text)) {
    return reader.report(
      'base_url',
      `base_url must be a whole ${isProduction ? 'https' : 'http or https'} URL without user, query or fragment.`,
    );
  }
  const path = /^https?:\/\/[^/]+(\/.*)?$/.exec(text)?.[1] ?? '/';
  const fault = literalPathFault(path);
  return fault === null ? text : reader.report('base_url', `The path of base_url ${fault}.`);
};

const readAuth = (reader: ConfigReader): RestAuth => {
  if (!reader.has('auth')) return { kind: 'none' };
  const auth = ConfigReader.of(reader.raw('auth'), reader.at('auth'), reader.problems);
  if (auth === null) return { kind: 'none' };
  const kind = auth.choice('kind', ['bearer', 'header', 'basic', 'query', 'none']) ?? 'none';
  auth.refuseUnknown(['kind', 'header', 'param']);
  if (kind !== 'header' && auth.has('header')) auth.report('header', 'header is for kind header only.');
  if (kind !== 'query' && auth.has('param')) auth.report('param', 'param is for kind query only.');
  if (kind === 'header') {
    const header = auth.text('header', { maxCharacters: 64 }) ?? 'X-API-Key';
    if (!isCredentialHeaderName(header)) auth.report('header', 'This header cannot carry a credential.');
    return { kind, header };
  }
  if (kind === 'query') {
    const param = auth.text('param', { maxCharacters: 64 }) ?? 'api_key';
    if (!CREDENTIAL_PARAM.test(param)) auth.report('param', 'param has 1 to 64 letters, digits or ._~-.');
    return { kind, param };
  }
  return { kind };
};

const credentialHeaders = (auth: RestAuth): readonly string[] => {
  if (auth.kind === 'bearer' || auth.kind === 'basic') return ['Authorization'];
  return auth.header === undefined ? [] : [auth.header];
};

const readMethods = (reader: ConfigReader): readonly RestMethod[] => {
  const entries = reader.list('allowed_methods', { min: 1, max: REST_METHODS.length }) ?? [];
  const methods: RestMethod[] = [];
  entries.forEach((entry, index) => {
    const method = REST_METHODS.find((known) => known === entry);
    if (method === undefined) {
      reader.report(`allowed_methods[${index}]`, `A method is one of ${REST_METHODS.join(', ')}.`);
    } else if (methods.includes(method)) reader.report(`allowed_methods[${index}]`, `${method} is listed twice.`);
    else methods.push(method);
  });
  return methods;
};

const readPrefixes = (reader: ConfigReader): readonly string[] => {
  const entries = reader.list('allowed_path_prefixes', { min: 1, max: REST_LIMITS.pathPrefixes }) ?? [];
  const prefixes: string[] = [];
  entries.forEach((entry, index) => {
    const key = `allowed_path_prefixes[${index}]`;
    const isText = typeof entry === 'string' && entry.length <= REST_LIMITS.pathCharacters;
    const fault = isText
      ? literalPathFault(entry)
      : `must be a string of at most ${REST_LIMITS.pathCharacters} characters`;
    if (fault !== null) reader.report(key, `A path prefix ${fault}.`);
    else if (prefixes.includes(entry as string)) reader.report(key, 'This prefix is listed twice.');
    else prefixes.push(entry as string);
  });
  return prefixes;
};

const readHeaders = (reader: ConfigReader, auth: RestAuth): Readonly<Record<string, string>> | undefined => {
  if (!reader.has('headers')) return undefined;
  const headers = ConfigReader.of(reader.raw('headers'), reader.at('headers'), reader.problems);
  if (headers === null) return undefined;
  const names = Object.keys(headers.object);
  if (names.length > REST_LIMITS.headers) {
    reader.report('headers', `There are at most ${REST_LIMITS.headers} default headers, not ${names.length}.`);
  }
  const taken = new Set(credentialHeaders(auth).map((name) => name.toLowerCase()));
  const read: [string, string][] = [];
  for (const name of names) {
    const value = headers.raw(name);
    if (!isAllowedHeaderName(name)) headers.report(name, 'This header may not be set by a config.');
    else if (taken.has(name.toLowerCase()))
      headers.report(name, 'This header is set twice, or carries the credential.');
    else if (typeof value !== 'string' || !isHeaderValue(value, REST_LIMITS.headerValueBytes)) {
      headers.report(
        name,
        `A header value is one line of visible ASCII, at most ${REST_LIMITS.headerValueBytes} bytes, without spaces at its ends.`,
      );
    } else read.push([name, value]);
    taken.add(name.toLowerCase());
  }
  return Object.fromEntries(read);
};

const readTest = (reader: ConfigReader, prefixes: readonly string[]): RestConfig['test'] => {
  if (!reader.has('test')) return undefined;
  const test = ConfigReader.of(reader.raw('test'), reader.at('test'), reader.problems);
  if (test === null) return undefined;
  const method = test.choice('method', ['GET', 'HEAD']) ?? 'GET';
  const path = test.text('path', { maxCharacters: REST_LIMITS.pathCharacters, isRequired: true });
  test.refuseUnknown(['method', 'path']);
  if (path === undefined) return undefined;
  const fault = literalPathFault(path);
  if (fault !== null) test.report('path', `The path ${fault}.`);
  else if (!isUnderAnyPrefix(path, prefixes))
    test.report('path', 'The path must lie under one of allowed_path_prefixes.');
  return { method, path };
};

const readTools = (reader: ConfigReader, context: ToolContext): readonly RestTool[] => {
  const entries = reader.list('tools', { min: 1, max: REST_LIMITS.tools }) ?? [];
  const tools: RestTool[] = [];
  const checks: (() => void)[] = [];
  entries.forEach((entry, index) => {
    const path = `${reader.path}.tools[${index}]`;
    const tool = readTool(entry, path, context, reader);
    if (tool === undefined) return;
    if (tools.some(({ name }) => name === tool.name)) reader.report(`tools[${index}].name`, 'This name is used twice.');
    tools.push(tool);
    const place = ConfigReader.of(entry, path, reader.problems);
    if (place !== null) checks.push(() => checkReadBack(place, tool, tools));
  });
  // A read-back may name a tool that stands further down.
  for (const check of checks) check();
  return tools;
};

/** The JSON that is stored and hashed. */
export const storedConfigOf = (config: RestConfig): JsonObject => config as unknown as JsonObject;
