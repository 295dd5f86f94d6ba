import { encodeBase64url } from '../base64url.js';
import { coseSignatureInput } from '../cose-sign1.js';
import { digestOf } from '../digest.js';
import type { SigningKey } from '../ed25519.js';
import { sealInput, type StoredSeal } from '../seal.js';

/** What `sealDeed` gives, without its verification: for long chains. */
export const sealAtOnce = (body: Uint8Array, key: SigningKey): StoredSeal => {
  const bodyHash = digestOf(body);
  const { kid } = key.publicKey;
  const signature = encodeBase64url(key.sign(sealInput(bodyHash)));
  return { bodyHash, kid, signature, coseSignature: encodeBase64url(key.sign(coseSignatureInput(kid, body))) };
};
