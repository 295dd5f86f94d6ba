import { ERROR_CATALOGUE, isErrorCode } from '#libs/domain/kernel';
import type { Answer } from '../../support/service.js';
import { operationFor, undescribedIn } from '../described-answer.js';

/** What came back for one request. */
export interface Received {
  readonly method: string;
  readonly target: string;
  readonly answer: Answer;
}

const REQUEST_ID = /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const MEMBERS = ['type', 'code', 'message', 'param', 'request_id', 'doc_url'];
const OPTIONAL_MEMBERS = ['action', 'diagnostics'];

/** What tells an outsider how the service is built: frames of a stack, paths of files, statements, drivers, classes. */
const INSIDES = [
  /\bat .+:\d+:\d+/,
  /\bnode:|node_modules|\.[jt]s\b/,
  /\/(?:dist|libs|apps|home|root|tmp|usr|var)\//,
  /\b(?:insert into|select .+ from|update .+ set|delete from)\b/i,
  /\b(?:syntax error at|duplicate key value|relation "|SQLSTATE|ECONN[A-Z]+|ENOENT|ENOTFOUND)/,
  /\b(?:Type|Range|Syntax|Reference)Error\b|\[object |Cannot read prop|is not a function|\bpolluted\b/,
];

/**
 * Statuses that a code has in place of the catalogue's own: a sender that was too slow, headers that are too large, and
 * a reference header that is malformed (rule FORM-6).
 */
const OTHER_STATUSES: Readonly<Record<number, string>> = {
  408: 'timeout',
  431: 'request_too_large',
  422: 'validation_failed',
};

/**
 * How an answer breaks what is promised of every answer; none when it does not. The service is whole while these requests
 * come, so that nothing in the catalogue excuses a 5xx.
 */
export const faultsOf = (received: Received, baseUrl: string): readonly string[] => {
  const { answer, method, target } = received;
  const { status, headers } = answer;
  const faults: string[] = [];
  if (status >= 500 || status < 200) faults.push(`status ${status}`);
  if (!REQUEST_ID.test(headers.get('service-request-id') ?? '')) faults.push('has no Service-Request-Id');
  if (headers.get('service-version') !== '2026-10-01') faults.push('has no Service-Version');
  if (status < 400 || method === 'HEAD') return faults;
  if (isOfPages(target) && isPage(answer)) return [...faults, ...pageFaults(answer)];
  if (isOfMcp(target) && answer.json['jsonrpc'] !== undefined) return [...faults, ...messageFaults(answer)];
  const isDescribed = operationFor(method, target) !== null && !isOfPages(target);
  const described = isDescribed ? undescribedIn(method, target, answer) : [];
  return [...faults, ...described, ...envelopeFaults(answer, baseUrl)];
};

/** Below `/app` people look at what is refused; only what could not be read as a request at all has the envelope there, too. */
const isOfPages = (target: string): boolean => /^(?:https?:\/\/[^/]*)?\/app(?![A-Za-z0-9_-])/.test(target);
const isPage = ({ headers }: Answer): boolean => (headers.get('content-type') ?? '').startsWith('text/html');

/** What is wrong within a message of the MCP door is an error of its protocol (JSON-RPC 2.0, section 5.1). */
const isOfMcp = (target: string): boolean => /^(?:https?:\/\/[^/]*)?\/mcp(?![A-Za-z0-9_-])/.test(target);

const messageFaults = ({ status, json }: Answer): readonly string[] => {
  const error = json['error'];
  if (typeof error !== 'object' || error === null) return [`status ${status} without an error`];
  const { code, message } = error as Readonly<Record<string, unknown>>;
  const members = Object.keys(json).sort().join();
  const isMessage = typeof message === 'string' && message.length > 0 && message.length <= 1_000;
  return [
    // What could not be read has no id to answer to, and the protocol knows none that is null.
    ...(['error,id,jsonrpc', 'error,jsonrpc'].includes(members) ? [] : [`members ${members}`]),
    ...([400, 404].includes(status) ? [] : [`an error of the protocol with status ${status}`]),
    ...(typeof code === 'number' && code <= -32_000 && code >= -32_768 ? [] : [`the code ${String(code)}`]),
    ...(isMessage ? [] : [`its message is ${String(message).length} characters long`]),
    ...INSIDES.filter((pattern) => pattern.test(String(message))).map((pattern) => `tells ${pattern.source}`),
  ];
};

const pageFaults = ({ headers, text }: Answer): readonly string[] => [
  ...((headers.get('content-security-policy') ?? '').startsWith("default-src 'none'")
    ? []
    : ['a page without its policy']),
  ...(/<h1[ >]/.test(text) ? [] : ['a page without a heading']),
  ...INSIDES.filter((pattern) => pattern.test(text)).map((pattern) => `a page tells ${pattern.source}`),
];

/** A message also says which field is wrong: people read it without `param` beside it. */
const paramFaults = (code: string, param: unknown, message: string): readonly string[] => {
  if (param === null) return [];
  if (typeof param !== 'string') return ['param is neither text nor null'];
  const spellings = [param, JSON.stringify(param).slice(1, -1)];
  const isNamed = spellings.some((name) => message.toLowerCase().includes(name.toLowerCase()));
  return code !== 'validation_failed' || isNamed ? [] : [`does not name ${param}: ${message}`];
};

const envelopeFaults = ({ status, headers, json, text }: Answer, baseUrl: string): readonly string[] => {
  const error = json['error'];
  if (typeof error !== 'object' || error === null) return [`has no envelope: ${text.slice(0, 200)}`];
  const {
    type,
    code,
    message,
    param,
    request_id: requestId,
    doc_url: page,
  } = error as Readonly<Record<string, unknown>>;
  const names = Object.keys(error);
  const unknown = names.slice(MEMBERS.length).filter((name) => !OPTIONAL_MEMBERS.includes(name));
  if (names.slice(0, MEMBERS.length).join() !== MEMBERS.join() || unknown.length > 0)
    return [`members ${names.join()}`];
  if (Object.keys(json).join() !== 'error') return ['has members beside error'];
  if (typeof code !== 'string' || !isErrorCode(code)) return [`the code ${String(code)} is not in the catalogue`];
  const entry = ERROR_CATALOGUE[code];
  const isReplay = headers.get('service-idempotent-replayed') === 'true';
  const isMessage = typeof message === 'string' && message.length > 0 && message.length <= 1_000;
  return [
    ...(entry.status === status || OTHER_STATUSES[status] === code ? [] : [`${code} with status ${status}`]),
    ...(entry.type === type ? [] : [`${code} with type ${String(type)}`]),
    ...(isMessage ? [] : [`its message is ${String(message).length} characters long`]),
    ...paramFaults(code, param, String(message)),
    ...(isReplay || requestId === headers.get('service-request-id') ? [] : ['request_id is not that of its header']),
    ...(page === `${baseUrl}/docs/errors/${code}` ? [] : [`doc_url ${String(page)}`]),
    ...INSIDES.filter((pattern) => pattern.test(String(message))).map(
      (pattern) => `tells ${pattern.source}: ${message as string}`,
    ),
  ];
};
