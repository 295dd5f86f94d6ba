/** A signed intent and the call it fits, for tests. */
import { encodeBase64url } from '../base64url.js';
import { digestOf, digestOfJson } from '../digest.js';
import { canonicalBytes } from '../jcs.js';
import { intentInput } from '../intent-form.js';
import { checkSignedIntent, type IntentClaims, type IntentFacts } from '../signed-intent.js';
import type { JsonObject } from '../strict-json.js';
import { keyFrom, ORG } from './given-chain.js';

export const NOW = Date.UTC(2026, 9, 1, 12);
export const AGENT = 'agt_01j9z3k4m5n6p7q8r9s0t1v2w3';
export const key = keyFrom('intent key');
export const otherKey = keyFrom('another intent key');
export const args: JsonObject = { customer: 'cus_1', amount: 500, ratio: 0.25 };

export const claims: IntentClaims = {
  org: ORG,
  agent: AGENT,
  tool: 'pay.create_refund',
  args_digest: digestOfJson(args),
  nonce: '0'.repeat(32),
  iat: NOW,
  exp: NOW + 60_000,
};

export const facts: IntentFacts = {
  org: ORG,
  agent: AGENT,
  keys: [key.publicKey],
  now: NOW,
  tool: 'pay.create_refund',
  args,
  onBehalfOf: null,
  session: null,
};

export const intent = { ...claims, v: 'service.intent/1', kid: key.publicKey.kid };

/** Any bytes as an intent, signed over whatever is given. */
export const signed = (bytes: Uint8Array, signer = key, message = intentInput(digestOf(bytes))): string =>
  `${encodeBase64url(bytes)}.${encodeBase64url(signer.sign(message))}`;
export const signedJson = (value: unknown): string => signed(canonicalBytes(value as JsonObject));

export const judge = (header: string | string[], change: Partial<IntentFacts> = {}): string => {
  const verdict = checkSignedIntent([header].flat(), { ...facts, ...change });
  return verdict.ok ? 'accepted' : `${verdict.check} ${verdict.reason} ${verdict.param}`;
};
