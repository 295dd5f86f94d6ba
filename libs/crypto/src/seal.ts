import { decodeBase64url, encodeBase64url, EncodingError } from './base64url.js';
import { coseSignatureInput, type DeedCose } from './cose-sign1.js';
import { type Digest, digestOf } from './digest.js';
import { SIGNATURE_BYTES, type SigningKey, type VerifiedPublicKey } from './ed25519.js';

/** The domain tag of a deed's seal. An intent is signed under another one, so neither signature passes for the other. */
export const SEAL_TAG = 'service/deed/v1';

/** What proves a deed beside its bytes. Signatures are unpadded base64url of 64 bytes. */
export interface Seal {
  readonly bodyHash: Digest;
  /** The id of the seal key; the body names the same one. */
  readonly kid: string;
  /** Over `service/deed/v1` LF body hash (rule DEED-1). */
  readonly signature: string;
}

/** A seal as the ledger keeps it. */
export interface StoredSeal extends Seal {
  /** Over the Sig_structure of the COSE form, so that the server can serve it later without a private key. */
  readonly coseSignature: string;
}

/** Why a seal does not hold over some bytes. Closed; judged in this order. */
export type SealFault = 'body_hash_mismatch' | 'bad_signature';

/** The signed text: the tag, one line feed, the body hash; ASCII, 87 bytes. */
export const sealInput = (bodyHash: Digest): Uint8Array => Buffer.from(`${SEAL_TAG}\n${bodyHash}`, 'ascii');

/**
 * Seals canonical deed bytes in 0.2 ms of the caller's thread, and verifies the seal before it gives it: a bit flipped
 * between signing and storing would otherwise stand in the chain for ever (rule DEED-2). Throws when it does not
 * verify. The signature of the COSE form is only made. No deed links to it and no bundle holds it; whoever hands it out
 * verifies it first (`isDeedCoseSignedInPool`).
 * @param bodyHash of the body, as the deed after it names it
 */
export const sealDeed = (body: Uint8Array, bodyHash: Digest, key: SigningKey): StoredSeal => {
  const { kid } = key.publicKey;
  const signature = encodeBase64url(key.sign(sealInput(bodyHash)));
  const coseSignature = encodeBase64url(key.sign(coseSignatureInput(kid, body)));
  const seal = { bodyHash, kid, signature, coseSignature };
  if (sealFault(body, seal, key.publicKey) !== null) throw new Error('a seal made just now does not verify');
  return seal;
};

/** What is wrong with a seal over these bytes under this key, or null. Which key to trust is the caller's question. */
export const sealFault = (body: Uint8Array, seal: Seal, key: VerifiedPublicKey): SealFault | null => {
  if (digestOf(body) !== seal.bodyHash) return 'body_hash_mismatch';
  return isSealSigned(seal, key) ? null : 'bad_signature';
};

/**
 * Whether the signature of a seal holds over the hash that it names. That the hash is the one of the bytes is for the
 * caller to judge.
 */
export const isSealSigned = ({ bodyHash, signature }: SignedHash, key: VerifiedPublicKey): boolean =>
  key.verify(sealInput(bodyHash), decodeSignature(signature));

/** As `isSealSigned`, verified on a thread of the pool. */
export const isSealSignedInPool = ({ bodyHash, signature }: SignedHash, key: VerifiedPublicKey): Promise<boolean> =>
  key.verifyInPool(sealInput(bodyHash), decodeSignature(signature));

type SignedHash = Pick<Seal, 'bodyHash' | 'signature'>;

/** One of the two above. */
export type SealVerifier = (seal: SignedHash, key: VerifiedPublicKey) => boolean | Promise<boolean>;

/** Whether the signature of a deed's COSE form holds under this key. */
export const isDeedCoseSigned = ({ kid, body, coseSignature }: DeedCose, key: VerifiedPublicKey): boolean =>
  key.verify(coseSignatureInput(kid, body), decodeSignature(coseSignature));

/** As `isDeedCoseSigned`, verified on a thread of the pool. */
export const isDeedCoseSignedInPool = (
  { kid, body, coseSignature }: DeedCose,
  key: VerifiedPublicKey,
): Promise<boolean> => key.verifyInPool(coseSignatureInput(kid, body), decodeSignature(coseSignature));

const NO_SIGNATURE = new Uint8Array(0);

/** A text that is no spelling of 64 bytes becomes a signature that nothing accepts. */
const decodeSignature = (text: string): Uint8Array => {
  try {
    return decodeBase64url(text, SIGNATURE_BYTES);
  } catch (error) {
    if (error instanceof EncodingError) return NO_SIGNATURE;
    throw error;
  }
};
