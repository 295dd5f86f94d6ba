import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';

export const ML_DSA_44_PUBLIC_KEY_BYTES = 1_312;
export const ML_DSA_44_SIGNATURE_BYTES = 2_420;
export const ML_DSA_44_SEED_BYTES = 32;

/**
 * Whether a signature is valid (FIPS 204 algorithm 3, the empty context): some milliseconds. Lengths are judged before
 * anything is computed. Every 1,312 bytes are a public key: there is no point to judge, as Ed25519 has.
 */
export const isMlDsa44Signed = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
  publicKey.byteLength === ML_DSA_44_PUBLIC_KEY_BYTES &&
  signature.byteLength === ML_DSA_44_SIGNATURE_BYTES &&
  ml_dsa44.verify(signature, message, publicKey);

/** A private key, made from its seed of 32 bytes. Nothing here returns the seed but `toSeed`, for a key file only. */
export class MlDsa44SigningKey {
  readonly #seed: Uint8Array;
  readonly #secretKey: Uint8Array;
  readonly #publicKey: Uint8Array;

  /** Throws `RangeError` for a seed of another length. A seed comes from a generator of cryptographic strength. */
  constructor(seed: Uint8Array) {
    if (seed.byteLength !== ML_DSA_44_SEED_BYTES) throw new RangeError('a seed of ML-DSA-44 has 32 bytes');
    this.#seed = Uint8Array.from(seed);
    const { secretKey, publicKey } = ml_dsa44.keygen(this.#seed);
    this.#secretKey = secretKey;
    this.#publicKey = publicKey;
  }

  /** A copy of the 1,312 bytes. */
  get publicKey(): Uint8Array {
    return Uint8Array.from(this.#publicKey);
  }

  /** The whole secret. For the file of the key alone. */
  toSeed(): Uint8Array {
    return Uint8Array.from(this.#seed);
  }

  /**
   * Hedged (FIPS 204 section 3.4): fresh randomness goes into each signature, so a fault while signing gives the key away
   * less easily, and two signatures of one message differ.
   */
  sign(message: Uint8Array): Uint8Array {
    return ml_dsa44.sign(message, this.#secretKey);
  }

  /** So that a key that slips into a log or a body shows nothing. */
  toJSON(): string {
    return 'ml-dsa-44';
  }
}
