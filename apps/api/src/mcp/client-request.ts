import type { JsonObject, JsonValue } from '#libs/crypto';
import { MCP_HANDSHAKES, MCP_META, MCP_MODERN, RPC_CODE } from '#libs/domain/kernel';
import { RpcFault, type RpcId } from './rpc-fault.js';
import { isObject } from './rpc-message.js';

/** All revisions that are served, the newest first. */
export const REVISIONS: readonly string[] = [MCP_MODERN, ...MCP_HANDSHAKES];
/** Of a client that names none: the header is newer than this revision (2025-06-18, transports). */
const REVISION_DEFAULT = '2025-03-26';

const VERSION_HEADER = 'MCP-Protocol-Version';
const METHOD_HEADER = 'Mcp-Method';
const NAME_HEADER = 'Mcp-Name';

/** The extension by which a client may be answered with a task (SEP-2663). */
export const TASKS = `${MCP_META}/tasks`;

const LEGACY_METHODS: readonly string[] = ['initialize', 'ping', 'tools/list', 'tools/call'];
/** These are for clients that declare the tasks extension. */
const TASK_METHODS: readonly string[] = ['tasks/get', 'tasks/update', 'tasks/cancel'];
const MODERN_METHODS: readonly string[] = [
  'server/discover',
  'subscriptions/listen',
  'tools/list',
  'tools/call',
  ...TASK_METHODS,
];

/** A request whose revision, method and headers are as the protocol has them. */
export interface ClientRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: JsonObject;
  /** Without a handshake: each request says all of itself. */
  readonly isModern: boolean;
  /** Declares the tasks extension. */
  readonly hasTasks: boolean;
  /** Null where the client wants to hear of no progress. */
  readonly progressToken: RpcId | null;
}

export interface SentRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * Which revision a request is of, by the request alone (rule MCP-1): both eras share an address, and there are no sessions.
 * @param headerValues every value of a header, in the order sent
 * @throws {RpcFault}
 */
export const clientRequest = (
  { id, method, params }: SentRequest,
  headerValues: (name: string) => readonly string[],
): ClientRequest => {
  const meta = params['_meta'] ?? {};
  if (!isObject(meta)) throw new RpcFault(RPC_CODE.invalidParams, 'params._meta must be an object where it is sent.');
  const named = meta[`${MCP_META}/protocolVersion`];
  const sent = headerValues(VERSION_HEADER);
  const isModern = named !== undefined || sent.includes(MCP_MODERN) || MODERN_ONLY.has(method);
  requireMethod(method, isModern);
  if (isModern) requireModern({ id, method, params }, meta, headerValues);
  else if (method !== 'initialize') requireServed(sent[0] ?? REVISION_DEFAULT);
  const hasTasks = isModern && declaresTasks(meta);
  if (TASK_METHODS.includes(method) && !hasTasks) throw withoutTasks();
  const { progressToken } = meta;
  const isToken = typeof progressToken === 'string' || Number.isSafeInteger(progressToken);
  return { id, method, params, meta, isModern, hasTasks, progressToken: isToken ? (progressToken as RpcId) : null };
};

const MODERN_ONLY: ReadonlySet<string> = new Set(MODERN_METHODS.filter((method) => !LEGACY_METHODS.includes(method)));

/**
 * Judged before the headers: what there is no method for is told so, whatever else is wrong. A 404 tells a client of a
 * handshake revision that its session is lost.
 */
const requireMethod = (method: string, isModern: boolean): void => {
  if ((isModern ? MODERN_METHODS : LEGACY_METHODS).includes(method)) return;
  const message = `There is no method ${method.slice(0, 100)} here: this server has tools alone.`;
  throw new RpcFault(RPC_CODE.methodNotFound, message, { status: isModern ? 404 : 200 });
};

const requireModern = (
  { method, params }: SentRequest,
  meta: JsonObject,
  headerValues: (name: string) => readonly string[],
): void => {
  const version = meta[`${MCP_META}/protocolVersion`];
  const capabilities = meta[`${MCP_META}/clientCapabilities`];
  if (typeof version !== 'string') throw fieldMissing('protocolVersion', 'a string');
  if (!isObject(capabilities)) throw fieldMissing('clientCapabilities', 'an object');
  requireHeader(headerValues, VERSION_HEADER, version);
  requireServed(version);
  requireHeader(headerValues, METHOD_HEADER, method);
  requireName({ method, params }, headerValues);
};

/** A task's name is its id. It is judged where it is sent, and not asked for: here a task is found by the body alone. */
const requireName = (
  { method, params }: Pick<SentRequest, 'method' | 'params'>,
  headerValues: (name: string) => readonly string[],
): void => {
  const isTask = TASK_METHODS.includes(method);
  const name = params[isTask ? 'taskId' : 'name'];
  const isOwed = method === 'tools/call' || (isTask && headerValues(NAME_HEADER).length > 0);
  if (isOwed && typeof name === 'string') requireHeader(headerValues, NAME_HEADER, name);
};

const fieldMissing = (field: string, form: string): RpcFault =>
  new RpcFault(RPC_CODE.invalidParams, `params._meta must hold ${MCP_META}/${field}, ${form}.`, { status: 400 });

/** A header repeats a member of the body, so that who reads headers alone and who reads the body see one request. */
const requireHeader = (headerValues: (name: string) => readonly string[], name: string, value: string): void => {
  const [sent, ...more] = headerValues(name);
  if (sent !== undefined && more.length === 0 && plain(sent) === value) return;
  const what = sent === undefined ? 'is missing' : more.length > 0 ? 'is sent twice' : 'says otherwise than the body';
  throw new RpcFault(RPC_CODE.headerMismatch, `The header ${name} ${what}. Send what the body has.`, { status: 400 });
};

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** A value that no header can hold travels in Base64 (revision 2026-07-28, Value Encoding). */
const plain = (value: string): string => {
  const [, encoded] = ENCODED.exec(value) ?? [];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
};

const requireServed = (version: string): void => {
  if (REVISIONS.includes(version)) return;
  const data = { supported: [...REVISIONS], requested: version.slice(0, 100) };
  const message = `This revision of MCP is not served. Use one of ${REVISIONS.join(', ')}.`;
  throw new RpcFault(RPC_CODE.unsupportedVersion, message, { status: 400, data });
};

const declaresTasks = (meta: JsonObject): boolean => {
  const { extensions } = meta[`${MCP_META}/clientCapabilities`] as JsonObject;
  return isObject(extensions) && isObject(extensions[TASKS]);
};

const withoutTasks = (): RpcFault => {
  const data: JsonValue = { requiredCapabilities: { extensions: { [TASKS]: {} } } };
  const message = `Only a client that declares the extension ${TASKS} has tasks.`;
  return new RpcFault(RPC_CODE.missingCapability, message, { status: 400, data });
};
