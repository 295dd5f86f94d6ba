export {
  type ActionMark,
  actionMark,
  isMarkOf,
  MARK_MAX_BYTES,
  MARK_PREFIX,
  readActionMark,
  xidInLog,
} from './action-mark.js';
export { decodeBase64url, decodeHex, EncodingError, encodeBase64url, encodeHex } from './base64url.js';
export { type CanonicalArguments, checkArguments } from './call-arguments.js';
export {
  commitmentOf,
  type CommittedValue,
  commitUnder,
  isSalt,
  newSalt,
  type Salt,
  SALT_PATTERN,
  saltFor,
} from './commitment.js';
export { type Digest, DIGEST_PATTERN, digestOf, digestOfJson, isDigest, sha256, sha256Hex } from './digest.js';
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
  RECORDED_INPUT_PROFILE,
  strictJsonInPieces,
  StrictJsonError,
  type StrictJsonReason,
} from './strict-json.js';
export { deriveDeedId, encodeId, ID_PATTERN, idPattern, isId } from './ids.js';
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
export {
  isDeedCoseSigned,
  isDeedCoseSignedInPool,
  type Seal,
  SEAL_TAG,
  sealDeed,
  type SealFault,
  sealFault,
  sealInput,
  type StoredSeal,
} from './seal.js';
export { SchemaError } from './closed-schema.js';
export { buildDeedBody, DeedBodyError, type DeedBodyInput, encodeDeedBody, parseDeedBody } from './deed-body.js';
export {
  afterDeed,
  type ChainPosition,
  keyFault,
  type KeyFault,
  linkFault,
  type LinkFault,
  nextIssuedAt,
  revokedKid,
  type SealKeyEntry,
  startOfChain,
} from './deed-chain.js';
export {
  CURRENCY_PATTERN,
  DEED_VERSION,
  type DeedBody,
  FIRST_DEED_VERSION,
  type FirstDeedBody,
  MAX_DEED_BYTES,
  MAX_SENTENCE_BYTES,
  MAX_SIGNATURES,
  MAX_TOOL_BYTES,
  MAX_WITNESS_REASONS,
  MAX_WORD_BYTES,
  REFERENCE_PATTERN,
  type SaltedDeedBody,
} from './deed-schema.js';
export {
  BUNDLE_MEDIA_TYPE,
  type BundleManifest,
  deedLineBytes,
  encodeKeySet,
  fingerprintOf,
  KeySetError,
  MAX_KEYS_BYTES,
  parseKeySet,
  parsePublishedKeySet,
  type SealedDeed,
} from './bundle-format.js';
export type { BundleVerdict, KeyUse, VerdictReason, WordOf } from './bundle-verdict.js';
export { type ChainHead, ChainWalk, type FaultAt, type PlaceFault, type PlaceRule } from './chain-walk.js';
export {
  type DeedJudgement,
  judgeDeed,
  type KeyLookup,
  type OwnFault,
  type SoundDeed,
  type TrustFault,
} from './deed-judgement.js';
export { type BundleContent, type BundleRange, BundleSourceError, writeBundle } from './export-bundle.js';
export { gzipHeaderFault } from './gzip-member.js';
export { verifyBundle, type VerifyOptions } from './verify-bundle.js';
export {
  checkSignedIntent,
  createSignedIntent,
  expectedForm,
  type ExpectedForm,
  type Intent,
  INTENT_CLOCK_SKEW_MS,
  INTENT_HEADER,
  INTENT_MAX_BYTES,
  INTENT_MAX_LIFETIME_MS,
  INTENT_REPLAY,
  INTENT_TAG,
  INTENT_VERSION,
  type IntentClaims,
  type IntentFacts,
  intentInput,
  type IntentReason,
  type IntentRefusal,
  type IntentToConsume,
  ON_BEHALF_OF_HEADER,
  SESSION_HEADER,
} from './signed-intent.js';

export { BundleFormatError } from './bundle-format-error.js';
export { readGzipMember, writeGzipMember } from './gzip-member.js';
export { readTarHeader, TAR_BLOCK_BYTES, TAR_END_BYTES, tarHeader, tarPaddingBytes } from './ustar.js';
