import type { JsonObject, JsonValue } from '#libs/crypto';

import { hostNameFault } from '../../kernel/index.js';
import { ConfigProblems } from '../config-problems.js';
import { ConfigReader } from '../config-reader.js';
import { isCredentialHeaderName } from '../header-names.js';
import { MCP_AUTH_KINDS, MCP_LIMITS, type McpAuth, type McpConfig, TOOLS_PINS } from './mcp-config.js';
import { MCP_PLACES } from './mcp-keys.js';

/** Headers of the transport: a credential in one of them would be taken for something else. */
const PROTOCOL_HEADER = /^(?:mcp-.*|accept|content-type|last-event-id|traceparent|tracestate|baggage)$/i;
/** Nothing that a URL parser would drop or read as userinfo or fragment. */
const URL_TEXT = /^https?:\/\/[^\s\p{Cc}\\@?#/]+(?:\/[\x21-\x7e]*)?$/u;

export interface McpConfigSettings {
  /** Plain http is for development only. */
  readonly isProduction: boolean;
}

/**
 * Reads the config of an MCP server and fills the defaults in.
 * @throws {DomainError} validation_failed, `param` the first problem's field, for example `config.auth.header`
 */
export const readMcpConfig = (value: JsonValue, settings: McpConfigSettings): McpConfig => {
  const problems = new ConfigProblems(value);
  const config = readConfig(value, settings, problems);
  problems.throwIfAny();
  return config as McpConfig;
};

const readConfig = (value: JsonValue, settings: McpConfigSettings, problems: ConfigProblems): McpConfig | undefined => {
  const reader = ConfigReader.of(value, 'config', problems);
  if (reader === null) return undefined;
  const url = readUrl(reader, settings);
  const auth = readAuth(reader);
  const timeoutMs = reader.integer('timeout_ms', MCP_LIMITS.timeoutMs) ?? MCP_LIMITS.timeoutMs.fallback;
  const toolsTtlMs = reader.integer('tools_ttl_ms', MCP_LIMITS.toolsTtlMs) ?? MCP_LIMITS.toolsTtlMs.fallback;
  const toolsPin = reader.choice('tools_pin', TOOLS_PINS) ?? 'changed';
  reader.refuseUnknown(MCP_PLACES.config);
  return { url: url ?? '', auth, timeout_ms: timeoutMs, tools_ttl_ms: toolsTtlMs, tools_pin: toolsPin };
};

const readUrl = (reader: ConfigReader, { isProduction }: McpConfigSettings): string | undefined => {
  const text = reader.text('url', { maxCharacters: MCP_LIMITS.urlCharacters, isRequired: true });
  if (text === undefined) return undefined;
  const fault = urlFault(text, isProduction);
  return fault === null ? text : reader.report('url', fault);
};

/** What the URL breaks, the first rule first; null for one that can be used. */
const urlFault = (text: string, isProduction: boolean): string | null => {
  const scheme = isProduction ? 'https://' : 'http:// or https://';
  if (!(isProduction ? /^https:\/\// : /^https?:\/\//).test(text)) return `must begin with ${scheme}.`;
  const [beforeFragment = '', fragment] = text.split('#', 2);
  const [beforeQuery = '', ...query] = beforeFragment.split('?');
  const [, authority = ''] = /^https?:\/\/([^/]*)/.exec(beforeQuery) ?? [];
  // Never quoted: what stands there is a password.
  if (authority.includes('@')) return 'must have no user or password; store credentials with the credentials route.';
  if (fragment !== undefined) return 'must have no fragment: nothing from "#" on.';
  if (!URL_TEXT.test(beforeQuery) || !URL.canParse(text)) {
    return 'must be a whole URL: a host, with a port from 0 to 65535 where it has one, and a path in visible ASCII.';
  }
  const { pathname, search } = new URL(text);
  const sent = beforeQuery.slice(beforeQuery.indexOf(authority) + authority.length);
  // What people read is what is sent: nothing is cleaned or encoded on the way.
  const isAsSent =
    (sent === '' ? '/' : sent) === pathname && (query.length === 0 ? '' : `?${query.join('?')}`) === search;
  if (!isAsSent) return 'must be written as it is sent: no /./ or /../ in its path, other characters percent-encoded.';
  const hostFault = hostNameFault(text);
  return hostFault === null ? null : `${hostFault}, so it leads nowhere.`;
};

const readAuth = (reader: ConfigReader): McpAuth => {
  if (!reader.has('auth')) return { kind: 'bearer' };
  const auth = ConfigReader.of(reader.raw('auth'), reader.at('auth'), reader.problems);
  if (auth === null) return { kind: 'bearer' };
  const kind = auth.choice('kind', MCP_AUTH_KINDS) ?? 'bearer';
  auth.refuseUnknown(MCP_PLACES.auth);
  if (kind !== 'header') {
    if (auth.has('header')) auth.report('header', 'is for kind header only.');
    return { kind };
  }
  const header = auth.text('header', { maxCharacters: 64 }) ?? 'X-API-Key';
  if (!isCredentialHeaderName(header) || PROTOCOL_HEADER.test(header))
    auth.report('header', 'must be a header that can carry a credential, such as X-API-Key or Authorization.');
  return { kind, header };
};

/** The JSON that is stored and hashed. */
export const storedMcpConfigOf = (config: McpConfig): JsonObject => config as unknown as JsonObject;
