import { createPublicKey, verify } from 'node:crypto';
import { digestOf, encodeBase64url, sealInput } from '#libs/crypto';
import { KEY } from '../../libs/crypto/src/testing/given-chain.js';

const MEASURED_MS = 2_000;
const SIGNATURES = 1_000;

/** By {@link KEY}. */
export interface Signed {
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/**
 * OpenSSL's Ed25519 by `crypto.verify`, in a tight loop on this thread: how quick the machine is at what a sealed action
 * spends most on. Nothing else runs on this thread meanwhile.
 *
 * @param signed distinct ones, because a processor learns a repeated one by heart
 */
export const opensslPerSecond = (signed: readonly Signed[] = sealsOfAnything()): number => {
  const x = encodeBase64url(KEY.publicKey.bytes);
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const begun = performance.now();
  let count = 0;
  while (performance.now() - begun < MEASURED_MS) {
    for (const { message, signature } of signed) {
      if (!verify(null, message, key, signature)) throw new Error('OpenSSL refuses a signature of the key');
    }
    count += signed.length;
  }
  return (count / (performance.now() - begun)) * 1_000;
};

const sealsOfAnything = (): readonly Signed[] =>
  Array.from({ length: SIGNATURES }, (_, index) => {
    const message = sealInput(digestOf(`deed ${index}`));
    return { message, signature: KEY.sign(message) };
  });
