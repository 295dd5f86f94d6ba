import { randomBytes } from 'node:crypto';

import { decodeBase64url, encodeBase64url, encodeHex, EncodingError } from './base64url.js';
import { checkArguments } from './call-arguments.js';
import { type Digest, digestOf } from './digest.js';
import { SIGNATURE_BYTES, type SigningKey, type VerifiedPublicKey } from './ed25519.js';
import {
  checkTime,
  type Intent,
  INTENT_CLOCK_SKEW_MS,
  INTENT_HEADER,
  INTENT_MAX_BYTES,
  INTENT_VERSION,
  intentInput,
  type IntentRefusal,
  ON_BEHALF_OF_HEADER,
  parseIntent,
  readIntent,
  refuse,
  schemaFault,
  SESSION_HEADER,
} from './intent-form.js';
import { canonicalBytes } from './jcs.js';
import { type JsonObject, StrictJsonError } from './strict-json.js';

const NONCE_BYTES = 16;
/** No header of this length reaches the service; without a bound the first check would decode whatever arrives. */
const MAX_ENCODED_BYTES = 1_048_576;

/** What a signer says. A nonce is made when none is given; a nonce is never used twice. */
export type IntentClaims = Omit<Intent, 'v' | 'kid' | 'nonce'> & { readonly nonce?: string };

/**
 * The value of the `Service-Intent` header for these claims, signed with the runtime's intent key. Throws `RangeError`
 * for claims that no checker would accept whatever the call is (schema or length).
 */
export const createSignedIntent = (claims: IntentClaims, key: SigningKey): { header: string; intentHash: Digest } => {
  const nonce = claims.nonce ?? encodeHex(randomBytes(NONCE_BYTES));
  const intent = { ...claims, v: INTENT_VERSION, kid: key.publicKey.kid, nonce };
  const fault = schemaFault(intent);
  if (fault !== null) throw new RangeError(`the intent's ${fault.param} is not acceptable`);
  const bytes = canonicalBytes(intent);
  if (bytes.byteLength > INTENT_MAX_BYTES) throw new RangeError('the intent is longer than 2,048 bytes');
  const intentHash = digestOf(bytes);
  const signature = key.sign(intentInput(intentHash));
  return { header: `${encodeBase64url(bytes)}.${encodeBase64url(signature)}`, intentHash };
};

/** What the gate knows about the call when it checks an intent. */
export interface IntentFacts {
  /** The organization and the agent of the API key. */
  readonly org: string;
  readonly agent: string;
  /** The intent keys registered for this agent, at most two. */
  readonly keys: readonly VerifiedPublicKey[];
  /** The clock, Unix milliseconds. */
  readonly now: number;
  /** The qualified name of the tool that is called. */
  readonly tool: string;
  /** The arguments from a strict parser, or why that parser refused them. */
  readonly args: JsonObject | StrictJsonError;
  /** The values of the two reference headers, null when they were not sent. */
  readonly onBehalfOf: string | null;
  readonly session: string | null;
}

/** An intent that passed checks 1 to 12. It is not accepted before its nonce was consumed. */
export interface IntentToConsume {
  readonly ok: true;
  readonly intent: Intent;
  readonly intentHash: Digest;
  /** To be inserted for the agent, uniquely; a conflict is `INTENT_REPLAY`. */
  readonly nonce: string;
  /** Unix milliseconds. From here on check 9 refuses the intent by itself, so the nonce may be forgotten. */
  readonly nonceNeededUntil: number;
  /** The references that hold for the action: the intent's. */
  readonly onBehalfOf: string | null;
  readonly session: string | null;
}

/** Check 13. It comes last, so that a refused intent never burns its nonce. */
export const INTENT_REPLAY: IntentRefusal = { ok: false, check: 13, reason: 'replay', param: 'nonce' };

/**
 * Checks 1 to 12 (rule INTENT-2), in their order, ending at the first that fails. A pure function: the intent mode was
 * applied before, and the nonce (check 13) is the caller's to consume after. `header` is every value of the header that
 * was sent; more or fewer than one is a syntax fault.
 */
export const checkSignedIntent = (header: readonly string[], facts: IntentFacts): IntentToConsume | IntentRefusal => {
  const parts = splitHeader(header);
  if (parts === null) return refuse(1, 'syntax', INTENT_HEADER);
  const { bytes, signature } = parts;
  const read = readIntent(bytes);
  if (!read.ok) return read;
  const { intent, intentHash } = read;
  const refusal =
    checkIdentity(intent, intentHash, signature, facts) ??
    checkTime(intent, facts.now) ??
    checkCall(intent, facts) ??
    checkReferences(intent, facts);
  if (refusal !== null) return refusal;
  return {
    ok: true,
    intent,
    intentHash,
    nonce: intent.nonce,
    nonceNeededUntil: intent.exp + INTENT_CLOCK_SKEW_MS + 1,
    onBehalfOf: intent.on_behalf_of ?? null,
    session: intent.session ?? null,
  };
};

/** What a checker makes of an intent that it could read, for whoever writes a signer. */
export interface ExpectedForm {
  /** The RFC 8785 form of the intent, which its bytes must equal. */
  readonly canonical: Uint8Array;
  readonly intentHash: Digest;
  /** What the signature must be over. */
  readonly signedBytes: Uint8Array;
}

/** Proves nothing of the intent: null only where checks 1 to 3 refuse it, so that there is no JSON to have a form. */
export const expectedForm = (header: readonly string[]): ExpectedForm | null => {
  const parts = splitHeader(header);
  if (parts === null || parts.bytes.byteLength > INTENT_MAX_BYTES) return null;
  const value = parseIntent(parts.bytes);
  if (value === null) return null;
  const canonical = canonicalBytes(value.json);
  const intentHash = digestOf(canonical);
  return { canonical, intentHash, signedBytes: intentInput(intentHash) };
};

/** Check 1: two unpadded base64url parts joined by one dot, the second of exactly 64 bytes. */
const splitHeader = (header: readonly string[]): { bytes: Uint8Array; signature: Uint8Array } | null => {
  const parts = header.length === 1 ? (header[0] ?? '').split('.') : [];
  const [intentPart, signaturePart] = parts;
  if (parts.length !== 2 || intentPart === undefined || signaturePart === undefined || intentPart === '') return null;
  try {
    const signature = decodeBase64url(signaturePart, SIGNATURE_BYTES);
    if (signature.byteLength !== SIGNATURE_BYTES) return null;
    return { bytes: decodeBase64url(intentPart, MAX_ENCODED_BYTES), signature };
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
};

/** Checks 6 to 8. */
const checkIdentity = (
  intent: Intent,
  intentHash: Digest,
  signature: Uint8Array,
  { org, agent, keys }: IntentFacts,
): IntentRefusal | null => {
  if (intent.org !== org) return refuse(6, 'org_mismatch', 'org');
  if (intent.agent !== agent) return refuse(6, 'agent_mismatch', 'agent');
  const key = keys.find(({ kid }) => kid === intent.kid);
  if (key === undefined) return refuse(7, 'unknown_kid', 'kid');
  return key.verifyTwice(intentInput(intentHash), signature) ? null : refuse(8, 'bad_signature', 'kid');
};

/** Checks 10 and 11: what the arguments are comes before what was said of them. */
const checkCall = (intent: Intent, { tool, args }: IntentFacts): IntentRefusal | null => {
  if (intent.tool !== tool) return refuse(10, 'tool_mismatch', 'tool');
  const digest = digestOfArguments(args);
  if (digest instanceof StrictJsonError) {
    return refuse(11, digest.reason === 'big_int' ? 'big_int' : 'args_not_canonicalizable', 'args');
  }
  return digest === intent.args_digest ? null : refuse(11, 'args_mismatch', 'args_digest');
};

const digestOfArguments = (args: JsonObject | StrictJsonError): Digest | StrictJsonError => {
  if (args instanceof StrictJsonError) return args;
  try {
    return checkArguments(args).digest;
  } catch (error) {
    if (error instanceof StrictJsonError) return error;
    throw error;
  }
};

/** Check 12: a header that the intent does not cover comes before one that differs, on_behalf_of before session. */
const checkReferences = (intent: Intent, { onBehalfOf, session }: IntentFacts): IntentRefusal | null => {
  const isUncovered = (sent: string | null, signed: string | undefined): boolean =>
    sent !== null && signed === undefined;
  if (isUncovered(onBehalfOf, intent.on_behalf_of)) return refuse(12, 'unsigned_obo', ON_BEHALF_OF_HEADER);
  if (isUncovered(session, intent.session)) return refuse(12, 'unsigned_obo', SESSION_HEADER);
  if (onBehalfOf !== null && onBehalfOf !== intent.on_behalf_of) return refuse(12, 'obo_mismatch', ON_BEHALF_OF_HEADER);
  if (session !== null && session !== intent.session) return refuse(12, 'session_mismatch', SESSION_HEADER);
  return null;
};
