import { type Digest, digestOf, isDigest } from './digest.js';
import { MAX_TOOL_BYTES, REFERENCE_PATTERN } from './deed-schema.js';
import { KID_PATTERN } from './ed25519.js';
import { isId } from './ids.js';
import { canonicalize } from './jcs.js';
import { INTENT_PROFILE, type JsonValue, parseStrictJson, StrictJsonError } from './strict-json.js';

export const INTENT_VERSION = 'service.intent/1';

/** The domain tag of an intent. A deed is sealed under another one, so neither signature passes for the other. */
export const INTENT_TAG = 'service/intent/v1';

export const INTENT_HEADER = 'Service-Intent';
export const ON_BEHALF_OF_HEADER = 'Service-On-Behalf-Of';
export const SESSION_HEADER = 'Service-Session';

export const INTENT_CLOCK_SKEW_MS = 60_000;
export const INTENT_MAX_LIFETIME_MS = 300_000;
export const INTENT_MAX_BYTES = INTENT_PROFILE.maxBytes;

/** An agent runtime's statement of one call (docs/signed-intents.md, Format). Times are Unix milliseconds. */
export interface Intent {
  readonly v: typeof INTENT_VERSION;
  readonly org: string;
  readonly agent: string;
  readonly kid: string;
  readonly tool: string;
  readonly args_digest: Digest;
  readonly nonce: string;
  readonly iat: number;
  readonly exp: number;
  readonly on_behalf_of?: string;
  readonly session?: string;
}

/** The signed text: the tag, one line feed, the intent hash. */
export const intentInput = (intentHash: Digest): Uint8Array => Buffer.from(`${INTENT_TAG}\n${intentHash}`, 'ascii');

/** Why an intent was refused. Closed: each belongs to one of the checks (rule INTENT-2). */
export type IntentReason =
  | 'syntax'
  | 'too_large'
  | 'strict'
  | 'not_canonical'
  | 'schema'
  | 'version'
  | 'org_mismatch'
  | 'agent_mismatch'
  | 'unknown_kid'
  | 'bad_signature'
  | 'not_yet_valid'
  | 'expired'
  | 'ttl'
  | 'tool_mismatch'
  | 'big_int'
  | 'args_not_canonicalizable'
  | 'args_mismatch'
  | 'unsigned_obo'
  | 'obo_mismatch'
  | 'session_mismatch'
  | 'replay';

/** A refusal: the number of the check (rule INTENT-2), its reason, and the `param` of the error envelope. */
export interface IntentRefusal {
  readonly ok: false;
  readonly check: number;
  readonly reason: IntentReason;
  readonly param: string;
}

export const refuse = (check: number, reason: IntentReason, param: string): IntentRefusal => ({
  ok: false,
  check,
  reason,
  param,
});

/** Checks 2 to 5: what the bytes say, or the first thing that is wrong with them. Says nothing of who signed them. */
export const readIntent = (bytes: Uint8Array): { ok: true; intent: Intent; intentHash: Digest } | IntentRefusal => {
  if (bytes.byteLength > INTENT_MAX_BYTES) return refuse(2, 'too_large', INTENT_HEADER);
  const value = parseIntent(bytes);
  if (value === null) return refuse(3, 'strict', INTENT_HEADER);
  if (!Buffer.from(canonicalize(value.json)).equals(bytes)) return refuse(4, 'not_canonical', INTENT_HEADER);
  const fault = schemaFault(value.json);
  return fault ?? { ok: true, intent: value.json as unknown as Intent, intentHash: digestOf(bytes) };
};

/** Check 3. The value stands in an object of its own, because `null` is a JSON value. */
export const parseIntent = (bytes: Uint8Array): { json: JsonValue } | null => {
  try {
    return { json: parseStrictJson(bytes, INTENT_PROFILE) };
  } catch (error) {
    if (error instanceof StrictJsonError) return null;
    throw error;
  }
};

const REQUIRED = ['v', 'org', 'agent', 'kid', 'tool', 'args_digest', 'nonce', 'iat', 'exp'];
const OPTIONAL = ['on_behalf_of', 'session'];

/** Connector, a dot, tool: the name is split at the first dot (rule FORM-4), and the tool part may hold more. */
const TOOL_PATTERN = /^[a-z][a-z0-9-]{1,31}\.[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const NONCE_PATTERN = /^[0-9a-f]{32}$/;

const isText = (value: unknown): value is string => typeof value === 'string';
const isTime = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const isReference = (value: unknown): boolean => isText(value) && REFERENCE_PATTERN.test(value);

/**
 * Check 5, types and patterns, in the order in which they are told: the length of the tool comes after the references.
 */
const FIELD_RULES: readonly (readonly [field: string, isValid: (value: unknown) => boolean])[] = [
  ['v', isText],
  ['org', (value) => isText(value) && isId('org', value)],
  ['agent', (value) => isText(value) && isId('agt', value)],
  ['kid', (value) => isText(value) && KID_PATTERN.test(value)],
  ['tool', (value) => isText(value) && TOOL_PATTERN.test(value)],
  ['args_digest', isDigest],
  ['nonce', (value) => isText(value) && NONCE_PATTERN.test(value)],
  ['on_behalf_of', isReference],
  ['session', isReference],
  ['tool', (value) => isText(value) && Buffer.byteLength(value) <= MAX_TOOL_BYTES],
  ['iat', isTime],
  ['exp', isTime],
];

/** Check 5: unknown fields (sorted), missing ones, the first wrong type or pattern, and last the version. */
export const schemaFault = (value: JsonValue): IntentRefusal | null => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return refuse(5, 'schema', INTENT_HEADER);
  const isKnown = (field: string): boolean => REQUIRED.includes(field) || OPTIONAL.includes(field);
  const [unknown] = Object.keys(value)
    .filter((field) => !isKnown(field))
    .sort();
  if (unknown !== undefined) return refuse(5, 'schema', unknown);
  const missing = REQUIRED.find((field) => !Object.hasOwn(value, field));
  if (missing !== undefined) return refuse(5, 'schema', missing);
  const wrong = FIELD_RULES.find(([field, isValid]) => Object.hasOwn(value, field) && !isValid(value[field]));
  if (wrong !== undefined) return refuse(5, 'schema', wrong[0]);
  return value['v'] === INTENT_VERSION ? null : refuse(5, 'version', 'v');
};

/** Check 9, in the order not_yet_valid, expired, ttl. */
export const checkTime = ({ iat, exp }: Intent, now: number): IntentRefusal | null => {
  if (iat > now + INTENT_CLOCK_SKEW_MS) return refuse(9, 'not_yet_valid', 'iat');
  if (now > exp + INTENT_CLOCK_SKEW_MS) return refuse(9, 'expired', 'exp');
  const isLifetime = exp - iat > 0 && exp - iat <= INTENT_MAX_LIFETIME_MS;
  return isLifetime ? null : refuse(9, 'ttl', 'exp');
};
