import { canonicalBytes, type JsonObject, type JsonValue } from '#libs/crypto';
import { hostNameFault } from '../../kernel/index.js';

import { ConfigProblems } from '../config-problems.js';
import { ConfigReader } from '../config-reader.js';
import { checkReadBack } from './read-back.reader.js';
import { HTTP_METHODS, type HttpMethod } from '../http-request.js';
import { REST_AUTH_KINDS, REST_LIMITS, type RestAuth, type RestConfig, type RestTool } from './rest-config.js';
import { isAllowedHeaderName, isCredentialHeaderName, isHeaderValue } from '../header-names.js';
import { REST_PLACES } from './rest-keys.js';
import { isUnderAnyPrefix, literalPathFault } from './rest-paths.js';
import { readTool, type ToolContext } from './rest-tool.reader.js';

const CREDENTIAL_PARAM = /^[A-Za-z0-9._~-]{1,64}$/;
/** Nothing a URL parser would drop, decode or read as userinfo, query or fragment. */
const BASE_URL = /^https?:\/\/[^\s\p{Cc}\\@?#/]+(?:\/[\x21-\x7e]*)?$/u;

export interface RestConfigSettings {
  /** Plain http is for development only. */
  readonly isProduction: boolean;
}

/**
 * Reads a REST connector config (rule REST-1) and fills the defaults in.
 * @throws {DomainError} validation_failed, `param` the first problem's field, for example `config.tools[1].readback.tool`
 */
export const readRestConfig = (value: JsonValue, settings: RestConfigSettings): RestConfig => {
  const problems = new ConfigProblems(value);
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
    problems.report('config', `must have at most ${REST_LIMITS.configBytes} bytes, not ${bytes}.`);
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
  reader.refuseUnknown(REST_PLACES.config);
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
  const fault = baseUrlFault(text, isProduction);
  return fault === null ? text : reader.report('base_url', fault);
};

/** What the URL breaks, the first rule first; null for one that can be used. */
const baseUrlFault = (text: string, isProduction: boolean): string | null => {
  const scheme = isProduction ? 'https://' : 'http:// or https://';
  if (!(isProduction ? /^https:\/\// : /^https?:\/\//).test(text)) return `must begin with ${scheme}.`;
  const [beforeFragment = '', fragment] = splitAt(text, '#');
  const [beforeQuery = '', query] = splitAt(beforeFragment, '?');
  const [, authority = '', path = '/'] = /^https?:\/\/([^/]*)(\/.*)?$/s.exec(beforeQuery) ?? [];
  // Never quoted: what stands there is a password.
  if (authority.includes('@')) return 'must have no user or password; store credentials with the credentials route.';
  if (query !== undefined) return 'must have no query: nothing from "?" on. Tools add theirs by arguments in: query.';
  if (fragment !== undefined) return 'must have no fragment: nothing from "#" on.';
  const pathFault = literalPathFault(path);
  if (pathFault !== null) return `has a path that ${pathFault}.`;
  if (!BASE_URL.test(text) || !URL.canParse(text)) {
    return 'must be a whole URL: a host, with a port from 0 to 65535 where it has one.';
  }
  const hostFault = hostNameFault(text);
  return hostFault === null ? null : `${hostFault}, so it leads nowhere.`;
};

const splitAt = (text: string, mark: string): [string, string?] => {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
};

const readAuth = (reader: ConfigReader): RestAuth => {
  if (!reader.has('auth')) return { kind: 'none' };
  const auth = ConfigReader.of(reader.raw('auth'), reader.at('auth'), reader.problems);
  if (auth === null) return { kind: 'none' };
  const kind = auth.choice('kind', REST_AUTH_KINDS) ?? 'none';
  auth.refuseUnknown(REST_PLACES.auth);
  if (kind !== 'header' && auth.has('header')) auth.report('header', 'is for kind header only.');
  if (kind !== 'query' && auth.has('param')) auth.report('param', 'is for kind query only.');
  if (kind === 'header') {
    const header = auth.text('header', { maxCharacters: 64 }) ?? 'X-API-Key';
    if (!isCredentialHeaderName(header))
      auth.report('header', 'must be a header that can carry a credential, such as X-API-Key or Authorization.');
    return { kind, header };
  }
  if (kind === 'query') {
    const param = auth.text('param', { maxCharacters: 64 }) ?? 'api_key';
    if (!CREDENTIAL_PARAM.test(param)) auth.report('param', 'must have 1 to 64 letters, digits or ._~-.');
    return { kind, param };
  }
  return { kind };
};

const credentialHeaders = (auth: RestAuth): readonly string[] => {
  if (auth.kind === 'bearer' || auth.kind === 'basic') return ['Authorization'];
  return auth.header === undefined ? [] : [auth.header];
};

const readMethods = (reader: ConfigReader): readonly HttpMethod[] => {
  const entries = reader.list('allowed_methods', { min: 1, max: HTTP_METHODS.length }) ?? [];
  const methods: HttpMethod[] = [];
  entries.forEach((entry, index) => {
    const method = HTTP_METHODS.find((known) => known === entry);
    if (method === undefined) {
      reader.report(`allowed_methods[${index}]`, `must be one of ${HTTP_METHODS.join(', ')}.`);
    } else if (methods.includes(method)) reader.report(`allowed_methods[${index}]`, `lists ${method} a second time.`);
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
    if (fault !== null) reader.report(key, `${fault}.`);
    else if (prefixes.includes(entry as string)) reader.report(key, 'lists a prefix a second time.');
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
    reader.report('headers', `must have at most ${REST_LIMITS.headers} headers, not ${names.length}.`);
  }
  const taken = new Set(credentialHeaders(auth).map((name) => name.toLowerCase()));
  const read: [string, string][] = [];
  for (const name of names) {
    const value = headers.raw(name);
    if (!isAllowedHeaderName(name)) headers.report(name, 'is a header that a config may not set.');
    else if (taken.has(name.toLowerCase()))
      headers.report(name, 'is a header that is set twice, or that carries the credential.');
    else if (typeof value !== 'string' || !isHeaderValue(value, REST_LIMITS.headerValueBytes)) {
      headers.report(
        name,
        `must be one line of visible ASCII, at most ${REST_LIMITS.headerValueBytes} bytes, without spaces at its ends.`,
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
  test.refuseUnknown(REST_PLACES.test);
  if (path === undefined) return undefined;
  const fault = literalPathFault(path);
  if (fault !== null) test.report('path', `${fault}.`);
  else if (!isUnderAnyPrefix(path, prefixes)) test.report('path', 'must lie under one of allowed_path_prefixes.');
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
    if (tools.some(({ name }) => name === tool.name))
      reader.report(`tools[${index}].name`, 'is the name of another tool already.');
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
