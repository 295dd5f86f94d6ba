export { decodeBase64url, decodeHex, EncodingError, encodeBase64url, encodeHex } from './base64url.js';
export { type CanonicalArguments, checkArguments } from './call-arguments.js';
export { type Digest, digestOf, digestOfJson, isDigest, sha256, sha256Hex } from './digest.js';
export { canonicalBytes, CanonicalizationError, canonicalize } from './jcs.js';
export {
  ARGS_PROFILE,
  bodyProfile,
  INTENT_PROFILE,
  type JsonObject,
  type JsonPath,
  type JsonProfile,
  type JsonValue,
  parseStrictJson,
  StrictJsonError,
  type StrictJsonReason,
} from './strict-json.js';
export { deriveDeedId, encodeId, ID_PATTERN, isId } from './ids.js';
export {
  COSE_MEDIA_TYPE,
  CoseError,
  type CoseSign1,
  decodeCoseSign1,
  decodeDeedCose,
  type DeedCose,
  encodeCoseSign1,
  encodeDeedCose,
  sigStructure,
} from './cose-sign1.js';
export {
  KID_PATTERN,
  parsePublicKey,
  parsePublicKeyText,
  PrivateKeyError,
  PUBLIC_KEY_BYTES,
  PublicKeyError,
  type PublicKeyReason,
  SIGNATURE_BYTES,
  SigningKey,
  type VerifiedPublicKey,
} from './ed25519.js';
export { type Seal, SEAL_TAG, sealDeed, type SealFault, sealFault, sealFaultInPool, sealInput } from './seal.js';
