import { ed25519 } from '@noble/curves/ed25519.js';
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

import { decodeBase64url, encodeBase64url, encodeHex, EncodingError } from './base64url.js';
import { type Digest, digestOf, sha256 } from './digest.js';

/** Why a public key was refused. Closed. */
export type PublicKeyReason = 'text' | 'length' | 'not_canonical' | 'off_curve' | 'small_order' | 'mixed_order';

/** A public key that must not be registered or used. The message does not repeat the key. */
export class PublicKeyError extends Error {
  override readonly name = 'PublicKeyError';

  constructor(readonly reason: PublicKeyReason) {
    super(`Ed25519 public key refused: ${reason}`);
  }
}

/** A private key file that is not an unencrypted PKCS#8 Ed25519 key. The message holds nothing of the file. */
export class PrivateKeyError extends Error {
  override readonly name = 'PrivateKeyError';

  constructor(options?: ErrorOptions) {
    super('not an Ed25519 private key in PKCS#8 PEM form', options);
  }
}

export const PUBLIC_KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;

/** `kid` is the first 16 bytes of the hash, in lowercase hex (rule FORM-8). */
export const KID_PATTERN = /^[0-9a-f]{32}$/;

const TEXT_PREFIX = 'ed25519:';
const KID_BYTES = 16;
type CurvePoint = InstanceType<typeof ed25519.Point>;

const IDENTITY_POINT = Buffer.from(`01${'00'.repeat(31)}`, 'hex');

/**
 * An Ed25519 public key whose point was judged: canonical encoding, on the curve, and in the prime-order group.
 * Only `parsePublicKey` makes one, so whoever holds an instance need not judge again. The point check carries the
 * whole weight: OpenSSL (node:crypto) imports small-order keys, and under the identity point one signature is valid
 * for every message.
 *
 * What a valid signature is, for every method here: 64 bytes R and S; R is a canonical point other than the identity;
 * S is below the group order; and R = [S]B - [k]A without a cofactor (RFC 8032 section 5.1.7). For keys of this class
 * that leaves one verdict for each input, equal in OpenSSL and in the strict mode of noble.
 */
export class VerifiedPublicKey {
  readonly #native: KeyObject;
  readonly #bytes: Buffer;
  /** `ed25519:` and 43 characters of base64url (rule FORM-8). */
  readonly text: string;
  /** Lowercase hex of the first 16 bytes of SHA-256 of the 32 key bytes. */
  readonly kid: string;
  /** `sha256:` and the hex of SHA-256 of the 32 key bytes: what an auditor pins. */
  readonly fingerprint: Digest;

  /** Not for callers: use `parsePublicKey`, which judges the bytes first. */
  constructor(judgedBytes: Uint8Array) {
    this.#bytes = Buffer.from(judgedBytes);
    const x = encodeBase64url(this.#bytes);
    this.#native = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    this.text = TEXT_PREFIX + x;
    this.kid = encodeHex(sha256(this.#bytes).subarray(0, KID_BYTES));
    this.fingerprint = digestOf(this.#bytes);
  }

  /** A copy of the 32 bytes. */
  get bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  /** Whether the signature is valid, by OpenSSL: about 0.1 ms. For chains and whatever is verified in bulk. */
  verify(message: Uint8Array, signature: Uint8Array): boolean {
    return hasAdmissibleForm(signature) && verify(null, message, this.#native, signature);
  }

  /** As `verify`, on a thread of the pool: several signatures are verified at once and the event loop stays free. */
  verifyInPool(message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    if (!hasAdmissibleForm(signature)) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      verify(null, message, this.#native, signature, (error, isValid) => {
        if (error === null) resolve(isValid);
        else reject(error);
      });
    });
  }

  /**
   * As `verify`, but two implementations that share no code must both accept: about 2 ms, and 1 ms for a key that is used
   * again and again. For signatures that decide something once, such as a signed intent. noble alone would not do: its
   * equation has the cofactor, so the holder of a key could make a signature that one verifier accepts and another
   * refuses.
   */
  verifyTwice(message: Uint8Array, signature: Uint8Array): boolean {
    return this.verify(message, signature) && satisfiesEquation(pointOf(this.kid, this.#bytes), message, signature);
  }
}

/**
 * The strict verification of noble (`ed25519.verify` with `zip215: false`), on its curve, for a key that was judged: there the
 * point of the key is decoded anew at every call, and a table of its multiples cannot be kept. Called only for a
 * signature that OpenSSL accepted, so S is below the group order.
 */
const satisfiesEquation = (key: CurvePoint, message: Uint8Array, signature: Uint8Array): boolean => {
  const { Point } = ed25519;
  const encodedR = signature.subarray(0, PUBLIC_KEY_BYTES);
  let r: CurvePoint;
  try {
    r = Point.fromBytes(encodedR, false);
  } catch {
    // Strict decoding says only no.
    return false;
  }
  const s = littleEndian(signature.subarray(PUBLIC_KEY_BYTES));
  const hash = createHash('sha512').update(encodedR).update(key.toBytes()).update(message).digest();
  const k = littleEndian(hash) % Point.Fn.ORDER;
  return r.add(key.multiplyUnsafe(k)).subtract(Point.BASE.multiplyUnsafe(s)).clearCofactor().is0();
};

const littleEndian = (bytes: Uint8Array): bigint => BigInt(`0x${encodeHex(Uint8Array.from(bytes).reverse())}`);

/** With which a multiplication takes a fifth; it is made, in 8 ms and 250 kB, for keys that are used so often. */
const TABLE_WINDOW_BITS = 5;
const TABLE_FROM_USE = 4;
const MAX_POINTS = 64;
const pointsInUse = new Map<string, { readonly point: CurvePoint; uses: number }>();

/** The key used longest ago is forgotten first. */
const pointOf = (kid: string, bytes: Uint8Array): CurvePoint => {
  const known = pointsInUse.get(kid) ?? { point: ed25519.Point.fromBytes(bytes, false), uses: 0 };
  known.uses += 1;
  if (known.uses === TABLE_FROM_USE) known.point.precompute(TABLE_WINDOW_BITS, false);
  pointsInUse.delete(kid);
  pointsInUse.set(kid, known);
  const [oldest] = pointsInUse.keys();
  if (pointsInUse.size > MAX_POINTS && oldest !== undefined) pointsInUse.delete(oldest);
  return known.point;
};

/**
 * Judges 32 bytes as a public key. Throws `PublicKeyError`; the reasons are tested in the order of their type.
 * The group check takes as long as fifteen verifications, so keys that passed it are remembered.
 */
export const parsePublicKey = (bytes: Uint8Array): VerifiedPublicKey => {
  if (bytes.byteLength !== PUBLIC_KEY_BYTES) throw new PublicKeyError('length');
  const name = encodeHex(bytes);
  const known = judgedKeys.get(name);
  if (known !== undefined) return known;
  const key = judgeKey(bytes);
  if (judgedKeys.size >= MAX_JUDGED_KEYS) judgedKeys.clear();
  judgedKeys.set(name, key);
  return key;
};

const MAX_JUDGED_KEYS = 1_000;
const judgedKeys = new Map<string, VerifiedPublicKey>();

const judgeKey = (bytes: Uint8Array): VerifiedPublicKey => {
  const point = decodePoint(bytes);
  if (point.isSmallOrder()) throw new PublicKeyError('small_order');
  // A point outside the prime-order group is no key that RFC 8032 section 5.1.5 generates, and it is what makes
  // verifiers with and without the cofactor disagree.
  if (!point.isTorsionFree()) throw new PublicKeyError('mixed_order');
  return new VerifiedPublicKey(bytes);
};

/** Judges the text form `ed25519:` + 43 base64url characters. Throws `PublicKeyError`. */
export const parsePublicKeyText = (text: string): VerifiedPublicKey => {
  if (!text.startsWith(TEXT_PREFIX)) throw new PublicKeyError('text');
  try {
    return parsePublicKey(decodeBase64url(text.slice(TEXT_PREFIX.length), PUBLIC_KEY_BYTES));
  } catch (error) {
    if (error instanceof EncodingError) throw new PublicKeyError('text');
    throw error;
  }
};

const decodePoint = (bytes: Uint8Array): CurvePoint => {
  try {
    return ed25519.Point.fromBytes(bytes, false);
  } catch {
    // Strict decoding says only no. The lenient one (ZIP 215) tells a second spelling of a point from no point.
    throw new PublicKeyError(isLenientlyDecodable(bytes) ? 'not_canonical' : 'off_curve');
  }
};

const isLenientlyDecodable = (bytes: Uint8Array): boolean => {
  try {
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
};

/**
 * For a key in the prime-order group the identity is the only small-order R that can satisfy the equation: it says that
 * the signer's nonce was zero, which gives the private key away. S and the encoding of R are judged by OpenSSL.
 */
const hasAdmissibleForm = (signature: Uint8Array): boolean =>
  signature.byteLength === SIGNATURE_BYTES && !IDENTITY_POINT.equals(signature.subarray(0, PUBLIC_KEY_BYTES));

/**
 * A private key. Its bytes stay inside OpenSSL: nothing here returns them but `toPkcs8Pem`, whose result belongs
 * encrypted into a vault and into no log, event or answer.
 */
export class SigningKey {
  readonly #native: KeyObject;
  readonly publicKey: VerifiedPublicKey;

  private constructor(native: KeyObject) {
    this.#native = native;
    const { x } = createPublicKey(native).export({ format: 'jwk' });
    this.publicKey = parsePublicKeyText(`${TEXT_PREFIX}${x ?? ''}`);
  }

  static generate(): SigningKey {
    return new SigningKey(generateKeyPairSync('ed25519').privateKey);
  }

  /** Reads an unencrypted PKCS#8 PEM. Throws `PrivateKeyError` for any other file or algorithm. */
  static fromPkcs8Pem(pem: string): SigningKey {
    let native: KeyObject;
    try {
      native = createPrivateKey({ key: pem, format: 'pem' });
    } catch (error) {
      throw new PrivateKeyError({ cause: error });
    }
    if (native.asymmetricKeyType !== 'ed25519') throw new PrivateKeyError();
    return new SigningKey(native);
  }

  /** The whole secret as PKCS#8 PEM. For the vault only. */
  toPkcs8Pem(): string {
    return this.#native.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  /** Pure Ed25519 (RFC 8032 section 5.1.6): 64 bytes, the same for the same message. */
  sign(message: Uint8Array): Uint8Array {
    return sign(null, message, this.#native);
  }

  /** So that a key that slips into a log or a body shows its public half only. */
  toJSON(): string {
    return this.publicKey.text;
  }
}
