import {
  bodyProfile,
  canonicalize,
  digestOf,
  type JsonObject,
  type JsonValue,
  StrictJsonError,
  strictJsonInPieces,
} from '#libs/crypto';
import { Turns } from '#libs/domain/kernel';
import type { EgressResponse } from '#libs/infra/egress';

import { OneAtATime } from './one-at-a-time.js';
import { Redactor } from './redactor.js';

/** Of what is recorded of an answer, once it is redacted (rule REST-12). */
export const RESULT_MAX_BYTES = 1_048_576;
const TEXT_MAX_BYTES = 65_536;
/** Result, headers and body nest around it; far below what any reader of the log must handle. */
const JSON_PROFILE = bodyProfile({ maxBytes: RESULT_MAX_BYTES, maxDepth: 64 });

const KEPT_HEADERS = new Set([
  'content-type',
  'etag',
  'last-modified',
  'location',
  'request-id',
  'x-request-id',
  'x-github-request-id',
  'x-accepted-github-permissions',
  'retry-after',
]);
const KEPT_HEADER_PREFIXES = ['x-ratelimit-', 'stripe-'] as const;

/** Reading, redacting and writing a body of this size takes a few milliseconds, whatever is in it. */
const SHORT_BYTES = 16_384;

const longBodies = new OneAtATime();

/**
 * `{status, headers, body}` as it is recorded and given to the agent, in canonical form. A text and no value: it waits
 * until it is stored, and a value takes up to thirty times its text. For the same reason long bodies are read one at a
 * time; others of the process have their turns between the steps.
 */
export const recordedResult = (response: EgressResponse, redactor: Redactor): Promise<string> =>
  response.body.byteLength <= SHORT_BYTES || !Buffer.isBuffer(response.body)
    ? ended(recordInPieces(response, redactor))
    : longBodies.run(() => ended(recordInPieces(response, redactor)));

const NO_SECRETS = new Redactor([], []);

/** The same with whatever secrets the upstream answered with: to be compared, and never to be kept. */
export const unredactedResult = (response: EgressResponse): Promise<string> => recordedResult(response, NO_SECRETS);

/**
 * Whether a result, as {@link unredactedResult} gives it, shows every member of the answer's body. Not so where the body was
 * too large or no text, and where it is JSON that cannot be read exactly and is kept as text.
 */
export const showsWholeBody = ({ body }: JsonObject, response: EgressResponse): boolean =>
  !isObject(body) || (!isKeptByDigest(body, response) && !isJsonKeptAsText(body, response));

const isKeptByDigest = (body: JsonObject, response: EgressResponse): boolean =>
  body['digest'] !== undefined && canonicalize(body) === canonicalize(digestedBody(response));

/** JSON that has a member `text` is longer than that member, so the two are never equal. */
const isJsonKeptAsText = ({ text }: JsonObject, response: EgressResponse): boolean => {
  if (typeof text !== 'string' || !Buffer.isBuffer(response.body)) return false;
  const { kind, charset, isNamed } = mediaTypeOf(response);
  const isJson = kind === 'json' && (isNamed || /^\s*[[{]/.test(text));
  return isJson && text === decoded(response.body, charset);
};

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const turns = new Turns();

const ended = async (pieces: Generator<void, string>): Promise<string> => {
  for (;;) {
    const piece = pieces.next();
    if (piece.done === true) return piece.value;
    await turns.next();
  }
};

function* recordInPieces(response: EgressResponse, redactor: Redactor): Generator<void, string> {
  const { status } = response;
  const headers = keptHeaders(response, redactor);
  const body = yield* redactedBody(response, redactor);
  const result = canonicalize({ body, headers, status });
  if (Buffer.byteLength(result) <= RESULT_MAX_BYTES) return result;
  return canonicalize({ body: digestedBody(response), headers, status });
}

/** `Set-Cookie` and hop-by-hop headers are not on the list, so they never pass. */
const keptHeaders = (response: EgressResponse, redactor: Redactor): Record<string, string> => {
  const kept = new Map<string, string>();
  for (const [sentName, value] of response.headers) {
    if (!KEPT_HEADERS.has(sentName) && !KEPT_HEADER_PREFIXES.some((prefix) => sentName.startsWith(prefix))) continue;
    const name = redactor.text(sentName);
    const before = kept.get(name);
    kept.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries([...kept].map(([name, value]) => [name, redactor.text(value)]));
};

/** The JSON itself, `{text}`, or `{digest, bytes}`; null when the answer has no body. */
function* redactedBody(response: EgressResponse, redactor: Redactor): Generator<void, JsonValue> {
  const { body } = response;
  if (body.byteLength === 0) return null;
  if (!response.isDecoded || !Buffer.isBuffer(body)) return digestedBody(response);
  const { kind, charset } = mediaTypeOf(response);
  const json = kind === 'json' ? yield* exactJson(body) : undefined;
  if (json !== undefined) {
    if (body.byteLength <= SHORT_BYTES) return redactor.json(json);
    yield;
    const redacted = redactor.json(json);
    yield;
    return redacted;
  }
  if (kind === 'binary' || body.byteLength > TEXT_MAX_BYTES) return digestedBody(response);
  const text = decoded(body, charset);
  return text === null || redactor.namesSecretMember(text) ? digestedBody(response) : { text: redactor.text(text) };
}

const digestedBody = ({ body }: EgressResponse): JsonValue => ({
  digest: Buffer.isBuffer(body) ? digestOf(body) : body.digest,
  bytes: body.byteLength,
});

interface MediaType {
  readonly kind: 'json' | 'text' | 'binary';
  readonly charset: string;
  /** False where the answer does not say what it is. */
  readonly isNamed: boolean;
}

const mediaTypeOf = (response: EgressResponse): MediaType => {
  const contentType = response.headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  const [essence = '', ...parameters] = contentType.toLowerCase().split(';');
  const type = essence.trim();
  const charset = parameters.map((parameter) => /^\s*charset="?([a-z0-9._:-]+)"?\s*$/.exec(parameter)?.[1]);
  return {
    kind: kindOf(type),
    charset: charset.find((name) => name !== undefined) ?? 'utf-8',
    isNamed: type !== '',
  };
};

const kindOf = (type: string): MediaType['kind'] => {
  // Without a type the bytes themselves say whether they are JSON or text.
  if (type === '' || type === 'application/json' || type === 'text/json' || type.endsWith('+json')) return 'json';
  const isText =
    type.startsWith('text/') ||
    type.endsWith('+xml') ||
    /^application\/(xml|javascript|yaml|x-yaml|toml|x-ndjson|x-www-form-urlencoded|graphql|sql)$/.test(type);
  return isText ? 'text' : 'binary';
};

/**
 * Undefined when the bytes are no JSON, or JSON that another reader could take for another value: repeated members,
 * integers beyond 2^53-1, deep nesting. Then they are kept as text, which loses nothing.
 */
function* exactJson(body: Uint8Array): Generator<void, JsonValue | undefined> {
  try {
    return yield* strictJsonInPieces(withoutByteOrderMark(body), JSON_PROFILE);
  } catch (error) {
    if (error instanceof StrictJsonError) return undefined;
    throw error;
  }
}

/** RFC 8259, section 8.1: a reader of JSON may ignore one. Upstreams send it; our own API takes none. */
const withoutByteOrderMark = (body: Uint8Array): Uint8Array =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;

const decoded = (body: Uint8Array, charset: string): string | null => {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(body);
  } catch (error) {
    // Not in that charset (TypeError), or no charset anybody knows (RangeError).
    if (error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
};
