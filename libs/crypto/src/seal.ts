import { decodeBase64url, encodeBase64url, EncodingError } from './base64url.js';
import { coseSignatureInput } from './cose-sign1.js';
import { type Digest, digestOf } from './digest.js';
import { SIGNATURE_BYTES, type SigningKey, type VerifiedPublicKey } from './ed25519.js';

/** The domain tag of a deed's seal. An intent is signed under another one, so neither signature passes for the other. */
export const SEAL_TAG = 'service/deed/v1';

/** Everything about a deed that is not its bytes. Signatures are unpadded base64url of 64 bytes. */
export interface Seal {
  readonly bodyHash: Digest;
  /** The id of the seal key; the body names the same one. */
  readonly kid: string;
  /** Over `service/deed/v1` LF body hash (document 1, Deed). */
  readonly signature: string;
  /** Over the Sig_structure of the COSE form, so that the server can serve it later without a private key. */
  readonly coseSignature: string;
}

/** Why a seal does not hold over some bytes. Closed; judged in this order. */
export type SealFault = 'body_hash_mismatch' | 'bad_signature' | 'bad_cose_signature';

/** The signed text: the tag, one line feed, the body hash; ASCII, 87 bytes. */
export const sealInput = (bodyHash: Digest): Uint8Array => Buffer.from(`${SEAL_TAG}\n${bodyHash}`, 'ascii');

/**
 * Seals canonical deed bytes with both signatures, and verifies them before it returns: a bit flipped between signing
 * and storing would otherwise stand in the chain for ever (reliability finding 13). Throws when they do not verify.
 */
export const sealDeed = (body: Uint8Array, key: SigningKey): Seal => {
  const bodyHash = digestOf(body);
  const { kid } = key.publicKey;
  const seal: Seal = {
    bodyHash,
    kid,
    signature: encodeBase64url(key.sign(sealInput(bodyHash))),
    coseSignature: encodeBase64url(key.sign(coseSignatureInput(kid, body))),
  };
  const fault = sealFault(body, seal, key.publicKey);
  if (fault !== null) throw new Error(`a seal made just now does not verify: ${fault}`);
  return seal;
};

/** What is wrong with a seal over these bytes under this key, or null. Which key to trust is the caller's question. */
export const sealFault = (body: Uint8Array, seal: Seal, key: VerifiedPublicKey): SealFault | null => {
  if (digestOf(body) !== seal.bodyHash) return 'body_hash_mismatch';
  const { native, cose } = signedParts(body, seal);
  if (!key.verify(native.message, native.signature)) return 'bad_signature';
  return key.verify(cose.message, cose.signature) ? null : 'bad_cose_signature';
};

/** As `sealFault`, with both signatures verified on threads of the pool. */
export const sealFaultInPool = async (
  body: Uint8Array,
  seal: Seal,
  key: VerifiedPublicKey,
): Promise<SealFault | null> => {
  if (digestOf(body) !== seal.bodyHash) return 'body_hash_mismatch';
  const { native, cose } = signedParts(body, seal);
  const [isSealed, isCoseSealed] = await Promise.all([
    key.verifyInPool(native.message, native.signature),
    key.verifyInPool(cose.message, cose.signature),
  ]);
  if (!isSealed) return 'bad_signature';
  return isCoseSealed ? null : 'bad_cose_signature';
};

const signedParts = (body: Uint8Array, seal: Seal) => ({
  native: { message: sealInput(seal.bodyHash), signature: decodeSignature(seal.signature) },
  cose: { message: coseSignatureInput(seal.kid, body), signature: decodeSignature(seal.coseSignature) },
});

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
