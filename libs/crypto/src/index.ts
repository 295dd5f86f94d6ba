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
export {
  APPROVAL_DECISIONS,
  type ApprovalChallenge,
  approvalChallenge,
  type ApprovalDecision,
} from './approval-challenge.js';
export {
  type AssertionFault,
  type ExpectedAssertion,
  faultOfAssertion,
  type PasskeyAssertion,
  type PasskeyRegistration,
  signCountOf,
} from './passkey-assertion.js';
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
export { HIDDEN_CHARACTERS } from './hidden-characters.js';
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
export type { CheckpointFault, CheckpointTrust, CheckpointWords } from './bundle-checkpoint.js';
export {
  BUNDLE_MEDIA_TYPE,
  BUNDLE_VERSION,
  type BundleManifest,
  type BundleVersion,
  deedLineBytes,
  encodeKeySet,
  fingerprintOf,
  FIRST_BUNDLE_VERSION,
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
export {
  type BundleAdditions,
  type BundleContent,
  type BundleEvidence,
  type BundleRange,
  BundleSourceError,
  type CoveringCheckpoint,
  writeBundle,
} from './export-bundle.js';
export { type CommittedMember, committedMembers } from './committed-members.js';
export { gzipHeaderFault } from './gzip-member.js';
export {
  ApprovalSignatures,
  type SignatureCounts,
  type SignedSubject,
  signedSubjectOf,
  type PasskeyRemoval,
  passkeyRemovalOf,
} from './approval-signatures.js';
export { callRecordOf, type IntentKeyChange, intentKeyChangeOf, IntentSignatures } from './intent-signatures.js';
export type { EvidenceCounts } from './payload-judge.js';
export {
  type DocumentLine,
  encodePayloadLine,
  type NameLine,
  type OpenedLine,
  type PayloadLine,
  payloadValue,
  type TakenLine,
  type ToldLine,
} from './payload-line.js';
export { type BundlePart, readBundle } from './read-bundle.js';
export { verifyBundle, type VerifyOptions } from './verify-bundle.js';
export {
  type Intent,
  INTENT_CLOCK_SKEW_MS,
  INTENT_HEADER,
  INTENT_MAX_BYTES,
  INTENT_MAX_LIFETIME_MS,
  INTENT_TAG,
  INTENT_VERSION,
  intentInput,
  type IntentReason,
  type IntentRefusal,
  ON_BEHALF_OF_HEADER,
  SESSION_HEADER,
} from './intent-form.js';
export {
  checkSignedIntent,
  createSignedIntent,
  expectedForm,
  type ExpectedForm,
  INTENT_REPLAY,
  type IntentClaims,
  type IntentFacts,
  type IntentToConsume,
} from './signed-intent.js';

export { compareLedgers, type LedgerComparison, type LedgerSight } from './ledger-comparison.js';
export { BundleFormatError } from './bundle-format-error.js';
export { readGzipMember, writeGzipMember } from './gzip-member.js';
export { readTarHeader, TAR_BLOCK_BYTES, TAR_END_BYTES, tarHeader, tarPaddingBytes } from './ustar.js';

export {
  type Checkpoint,
  CheckpointError,
  type CheckpointReason,
  encodeCheckpoint,
  parseCheckpoint,
  type ReadCheckpoint,
} from './transparency/checkpoint.js';
export {
  type CheckpointJudgement,
  type CheckpointRefusal,
  judgeCheckpoint,
  type Quorum,
  quorumOf,
  type SignedCheckpoint,
  type WitnessWord,
} from './transparency/checkpoint-judgement.js';
export { CompactRange, completeSubtrees, rootOf, type TreeNode } from './transparency/compact-range.js';
export { CosignatureError, type CosignatureReason, timestampOf } from './transparency/cosignature.js';
export { isKeyName } from './transparency/key-name.js';
export {
  type LedgerRange,
  ledgerRange,
  LedgerRangeError,
  type LedgerRangeReason,
  type RangeBounds,
  RangeFold,
  RangeLeaves,
  rootOfRange,
  rootThroughRange,
} from './transparency/ledger-range.js';
export { EMPTY_ROOT, HASH_BYTES, isSameHash, leafHash, nodeHash } from './transparency/merkle-hash.js';
export {
  type ConsistencyClaim,
  consistencyProof,
  hashesInMemory,
  type InclusionClaim,
  inclusionProof,
  isConsistent,
  isIncluded,
  MAX_PROOF_HASHES,
  type NodeHashes,
  rootOfTree,
} from './transparency/merkle-proof.js';
export { ML_DSA_44_SEED_BYTES, MlDsa44SigningKey } from './transparency/ml-dsa-44.js';
export {
  ed25519Cosigner,
  ed25519NoteSigner,
  type KnownKey,
  knownKey,
  mlDsa44Cosigner,
  type SigningNoteKey,
} from './transparency/note-key.js';
export {
  formatNote,
  judgeNote,
  MAX_NOTE_BYTES,
  type NoteJudgement,
  type NoteSignature,
  type NoteSigner,
  type NoteVerifier,
  openNote,
  parseSignedNote,
  signatureLine,
  signatureOf,
  type SignedNote,
  SignedNoteError,
  type SignedNoteReason,
  signNote,
  type VerifiedSignature,
} from './transparency/signed-note.js';
export {
  EMPTY_FRONTIER,
  type Frontier,
  hashesInTiles,
  type Tile,
  TILE_BYTES,
  TILE_HASHES,
  TileBuilder,
  TileError,
  type TileId,
  type TileReason,
} from './transparency/tiles.js';
export {
  encodePolicy,
  MAX_POLICY_BYTES,
  MAX_POLICY_ENTRIES,
  NO_QUORUM,
  parsePolicy,
  type PolicyGroup,
  type PolicyLog,
  type PolicyWitness,
  type TlogPolicy,
  TlogPolicyError,
  type TlogPolicyReason,
} from './transparency/tlog-policy.js';
export {
  encodeTlogProof,
  judgeTlogProof,
  MAX_TLOG_PROOF_BYTES,
  parseTlogProof,
  type ProofFacts,
  type ProofJudgement,
  type ProofRefusal,
  type ReadTlogProof,
  TLOG_PROOF_EXTENSION,
  type TlogProof,
  TlogProofError,
  type TlogProofReason,
} from './transparency/tlog-proof.js';
export {
  encodeVkey,
  isSameKey,
  keyIdOf,
  parseVkey,
  SIGNATURE_TYPE,
  type SignatureType,
  type Vkey,
  VkeyError,
  vkeyOf,
  type VkeyReason,
} from './transparency/vkey.js';
export {
  type AddCheckpoint,
  encodeAddCheckpoint,
  encodeCosignatures,
  encodeTreeSize,
  MAX_ADD_CHECKPOINT_BYTES,
  MAX_SIGNATURE_LINES_BYTES,
  MAX_SIZE_BODY_BYTES,
  parseAddCheckpoint,
  parseCosignatures,
  parseTreeSize,
  type ReadAddCheckpoint,
  TLOG_SIZE_MEDIA_TYPE,
  WitnessMessageError,
  type WitnessMessageReason,
} from './transparency/witness-message.js';
