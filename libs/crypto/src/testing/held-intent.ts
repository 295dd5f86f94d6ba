/** What an agent signed of the call of a deed, as a bundle gives it. */
import { encodeBase64url } from '../base64url.js';
import type { DeedBody } from '../deed-schema.js';
import { type Digest, digestOf, sha256Hex } from '../digest.js';
import type { SigningKey } from '../ed25519.js';
import { intentInput } from '../intent-form.js';
import { canonicalize } from '../jcs.js';
import { keyFrom, ORG } from './given-chain.js';

export const intentKey = keyFrom('the intent key of the agent');

export interface HeldIntent {
  readonly digest: Digest;
  readonly value: Buffer;
  readonly signature: string;
}

/** The intent of the deed's own call, signed a second before it came in; or another one, or signed otherwise. */
export const intentOf = (
  { seq, who, action }: DeedBody,
  argsDigest: Digest,
  change: Readonly<Record<string, string | number>> = {},
  key: SigningKey = intentKey,
): HeldIntent => {
  const iat = Date.parse(action?.created_at ?? '') - 1_000;
  const value = Buffer.from(
    canonicalize({
      agent: who.agent,
      args_digest: argsDigest,
      exp: iat + 60_000,
      iat,
      kid: key.publicKey.kid,
      nonce: sha256Hex(`nonce ${seq}`).slice(0, 32),
      ...(who.on_behalf_of === null ? {} : { on_behalf_of: who.on_behalf_of }),
      org: ORG,
      tool: action?.tool ?? '',
      v: 'service.intent/1',
      ...change,
    }),
  );
  return { digest: digestOf(value), value, signature: signatureOf(key, digestOf(value)) };
};

export const signatureOf = (key: SigningKey, digest: Digest): string => encodeBase64url(key.sign(intentInput(digest)));
