import { decodeHex, encodeHex, EncodingError } from '../base64url.js';
import { sha256 } from '../digest.js';
import { parsePublicKey, PUBLIC_KEY_BYTES, PublicKeyError } from '../ed25519.js';
import { bytesOfBase64, encodeBase64 } from './base64.js';
import { isKeyName } from './key-name.js';
import { ML_DSA_44_PUBLIC_KEY_BYTES } from './ml-dsa-44.js';
import { utf8 } from './strict-text.js';

/** Signature type identifier bytes (signed-note, Signature types). The other assigned ones are not supported here. */
export const SIGNATURE_TYPE = {
  /** Ed25519 over the note text. */
  ed25519: 0x01,
  /** Timestamped Ed25519 checkpoint cosignature. */
  ed25519Cosignature: 0x04,
  /** Timestamped ML-DSA-44 (sub)tree cosignature. */
  mlDsa44Cosignature: 0x06,
} as const;

export type SignatureType = (typeof SIGNATURE_TYPE)[keyof typeof SIGNATURE_TYPE];

/** Why a verifier key was refused. Closed. `public_key`: a wrong length, or a point that is no Ed25519 key of ADR 5. */
export type VkeyReason = 'form' | 'key_name' | 'signature_type' | 'public_key' | 'key_id';

/** A verifier key that must not be configured. The message does not repeat it. */
export class VkeyError extends Error {
  override readonly name = 'VkeyError';

  constructor(readonly reason: VkeyReason) {
    super(`verifier key refused: ${reason}`);
  }
}

/** A verifier key whose parts were judged: only `vkeyOf` and `parseVkey` make one. */
export interface Vkey {
  readonly keyName: string;
  readonly keyId: number;
  readonly type: SignatureType;
  readonly publicKey: Uint8Array;
}

/** No vkey of a supported type is longer, with a name of some length. */
const MAX_VKEY_CHARACTERS = 4_096;
const KEY_ID_BYTES = 4;
const TYPES: ReadonlySet<number> = new Set(Object.values(SIGNATURE_TYPE));

/** SHA-256(key name || 0x0A || signature type || public key)[:4], as the uint32 that it is in big-endian order. */
export const keyIdOf = (keyName: string, type: SignatureType, publicKey: Uint8Array): number => {
  const hashed = sha256(concat(utf8(`${keyName}\n`), Uint8Array.of(type), publicKey));
  return new DataView(hashed.buffer, hashed.byteOffset, KEY_ID_BYTES).getUint32(0);
};

/** Judges a name and a key. Throws `VkeyError`. */
export const vkeyOf = (keyName: string, type: SignatureType, publicKey: Uint8Array): Vkey => {
  if (!isKeyName(keyName)) throw new VkeyError('key_name');
  if (!isPublicKey(type, publicKey)) throw new VkeyError('public_key');
  return { keyName, keyId: keyIdOf(keyName, type, publicKey), type, publicKey: Uint8Array.from(publicKey) };
};

/** `<key name>+hex(key ID)+base64(signature type || public key)`. */
export const encodeVkey = ({ keyName, keyId, type, publicKey }: Vkey): string =>
  `${keyName}+${hexOfKeyId(keyId)}+${encodeBase64(concat(Uint8Array.of(type), publicKey))}`;

/**
 * Reads a verifier key of a supported type in its one spelling. The key id must be the one that the texts define for the
 * type: for cosignatures they demand it, and for notes nothing else is made. Throws `VkeyError`.
 */
export const parseVkey = (text: string): Vkey => {
  if (text.length > MAX_VKEY_CHARACTERS) throw new VkeyError('form');
  const [, keyName = '', hex = '', encoded = ''] = /^([^+]*)\+([^+]*)\+(.*)$/.exec(text) ?? [];
  const bytes = bytesOfBase64(encoded, MAX_VKEY_CHARACTERS);
  if (!isKeyIdHex(hex) || bytes === null || bytes.byteLength === 0) throw new VkeyError('form');
  const [type = 0] = bytes;
  if (!isSignatureType(type)) throw new VkeyError('signature_type');
  const vkey = vkeyOf(keyName, type, bytes.subarray(1));
  if (hexOfKeyId(vkey.keyId) !== hex) throw new VkeyError('key_id');
  return vkey;
};

/** Whether two verifier keys wrap the same public key, whatever they call it (tlog-policy, Public key representation). */
export const isSameKey = (one: Vkey, other: Vkey): boolean => encodeHex(one.publicKey) === encodeHex(other.publicKey);

const isSignatureType = (type: number): type is SignatureType => TYPES.has(type);

const isPublicKey = (type: SignatureType, publicKey: Uint8Array): boolean =>
  type === SIGNATURE_TYPE.mlDsa44Cosignature
    ? publicKey.byteLength === ML_DSA_44_PUBLIC_KEY_BYTES
    : publicKey.byteLength === PUBLIC_KEY_BYTES && isEd25519Key(publicKey);

const isEd25519Key = (publicKey: Uint8Array): boolean => {
  try {
    parsePublicKey(publicKey);
    return true;
  } catch (error) {
    if (error instanceof PublicKeyError) return false;
    throw error;
  }
};

const isKeyIdHex = (hex: string): boolean => {
  try {
    return decodeHex(hex, KEY_ID_BYTES).byteLength === KEY_ID_BYTES;
  } catch (error) {
    if (error instanceof EncodingError) return false;
    throw error;
  }
};

const hexOfKeyId = (keyId: number): string => keyId.toString(16).padStart(KEY_ID_BYTES * 2, '0');

const concat = (...parts: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
};
