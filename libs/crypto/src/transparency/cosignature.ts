import type { VerifiedPublicKey } from '../ed25519.js';
import { SIGNATURE_BYTES, type SigningKey } from '../ed25519.js';
import { type Checkpoint, checkpointIn } from './checkpoint.js';
import { isMlDsa44Signed, ML_DSA_44_SIGNATURE_BYTES, type MlDsa44SigningKey } from './ml-dsa-44.js';
import { isCount, utf8 } from './strict-text.js';

/** Why nothing was cosigned. Closed. `name` and `origin` have at most 255 bytes in an ML-DSA-44 message. */
export type CosignatureReason = 'checkpoint' | 'timestamp' | 'name' | 'origin';

/** A cosignature that cannot be made. */
export class CosignatureError extends Error {
  override readonly name = 'CosignatureError';

  constructor(readonly reason: CosignatureReason) {
    super(`cosignature refused: ${reason}`);
  }
}

const TIMESTAMP_BYTES = 8;
const ED25519_BYTES = TIMESTAMP_BYTES + SIGNATURE_BYTES;
const ML_DSA_44_BYTES = TIMESTAMP_BYTES + ML_DSA_44_SIGNATURE_BYTES;
const ML_DSA_LABEL = 'subtree/v1\n\0';
const MAX_OPAQUE_BYTES = 255;

/**
 * What an Ed25519 key signs: a header line, the time, and the whole note text, extension lines included. The name of the
 * cosigner is not in it, so one key is one cosigner, whatever names it is given.
 */
export const ed25519CosignedMessage = (text: string, timestamp: number): Uint8Array =>
  utf8(`cosignature/v1\ntime ${timestamp}\n${text}`);

/**
 * What an ML-DSA-44 key signs: the `cosigned_message` of the whole tree, so `start` is zero. It names the cosigner and the
 * log, and leaves extension lines out. Throws `CosignatureError` for a name or an origin that has no place in it.
 */
export const mlDsa44CosignedMessage = (
  cosignerName: string,
  { origin, size, root }: Checkpoint,
  timestamp: number,
): Uint8Array => {
  const name = utf8(cosignerName);
  const log = utf8(origin);
  if (!isOpaque(name)) throw new CosignatureError('name');
  if (!isOpaque(log)) throw new CosignatureError('origin');
  const label = utf8(ML_DSA_LABEL);
  const parts = [label, prefixed(name), uint64(timestamp), prefixed(log), uint64(0), uint64(size), root];
  return Uint8Array.from(parts.flatMap((part) => [...part]));
};

const isOpaque = ({ byteLength }: Uint8Array): boolean => byteLength > 0 && byteLength <= MAX_OPAQUE_BYTES;

const prefixed = (bytes: Uint8Array): Uint8Array => Uint8Array.of(bytes.byteLength, ...bytes);

const uint64 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(TIMESTAMP_BYTES);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
};

/**
 * The POSIX time that a cosignature begins with; null where there is none or it is above 2^53-1, which is in the future of
 * every reader. 0 says that no statement is made as to the largest tree: it is no time.
 */
export const timestampOf = (signature: Uint8Array): number | null => {
  if (signature.byteLength < TIMESTAMP_BYTES) return null;
  const value = Number(new DataView(signature.buffer, signature.byteOffset).getBigUint64(0));
  return isCount(value) ? value : null;
};

/** Whether bytes behind a key id are the Ed25519 cosignature (type 0x04) of a checkpoint by a key. */
export const isEd25519Cosignature = (key: VerifiedPublicKey, text: string, signature: Uint8Array): boolean => {
  if (signature.byteLength !== ED25519_BYTES || checkpointIn(text) === null) return false;
  const timestamp = timestampOf(signature);
  if (timestamp === null) return false;
  return key.verify(ed25519CosignedMessage(text, timestamp), signature.subarray(TIMESTAMP_BYTES));
};

/** Whether bytes behind a key id are the ML-DSA-44 cosignature (type 0x06) of a checkpoint by a key under this name. */
export const isMlDsa44Cosignature = (
  key: { readonly keyName: string; readonly publicKey: Uint8Array },
  text: string,
  signature: Uint8Array,
): boolean => {
  if (signature.byteLength !== ML_DSA_44_BYTES) return false;
  const timestamp = timestampOf(signature);
  const checkpoint = checkpointIn(text);
  if (timestamp === null || checkpoint === null) return false;
  if (!isOpaque(utf8(key.keyName)) || !isOpaque(utf8(checkpoint.origin))) return false;
  const message = mlDsa44CosignedMessage(key.keyName, checkpoint, timestamp);
  return isMlDsa44Signed(key.publicKey, message, signature.subarray(TIMESTAMP_BYTES));
};

/** The `timestamped_signature` of an Ed25519 key. `timestamp` is not zero. Throws `CosignatureError`. */
export const ed25519Cosignature = (key: SigningKey, text: string, timestamp: number): Uint8Array => {
  cosignable(text, timestamp);
  return timestamped(timestamp, key.sign(ed25519CosignedMessage(text, timestamp)));
};

/** The `timestamped_signature` of an ML-DSA-44 key. `timestamp` is not zero. Throws `CosignatureError`. */
export const mlDsa44Cosignature = (
  cosignerName: string,
  key: MlDsa44SigningKey,
  text: string,
  timestamp: number,
): Uint8Array =>
  timestamped(timestamp, key.sign(mlDsa44CosignedMessage(cosignerName, cosignable(text, timestamp), timestamp)));

const cosignable = (text: string, timestamp: number): Checkpoint => {
  const checkpoint = checkpointIn(text);
  if (checkpoint === null) throw new CosignatureError('checkpoint');
  if (!isCount(timestamp) || timestamp === 0) throw new CosignatureError('timestamp');
  return checkpoint;
};

const timestamped = (timestamp: number, signature: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(TIMESTAMP_BYTES + signature.byteLength);
  bytes.set(uint64(timestamp));
  bytes.set(signature, TIMESTAMP_BYTES);
  return bytes;
};
