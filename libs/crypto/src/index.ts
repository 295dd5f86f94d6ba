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
