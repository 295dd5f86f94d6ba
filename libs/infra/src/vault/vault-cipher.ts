import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

import { ForeseenFault, type Randomness } from '#libs/domain/kernel';

const VAULT_KEY_BYTES = 32;

const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
const DERIVED_KEY_BYTES = 32;
const CHECK_CONTEXT = 'service/vault-check/v1';

/** A sealed value does not open: another key, another place, or changed bytes. Which one cannot be told. */
export class SealedValueRefused extends ForeseenFault {
  override readonly name = 'SealedValueRefused';
}

/**
 * AES-256-GCM under the vault key (NIST SP 800-38D, random 96-bit nonces: good for 2^32 seals under one key).
 * A sealed value is one byte 1, the nonce, the tag, the ciphertext. It opens only with the place it was sealed for.
 */
export class VaultCipher {
  private readonly key: Buffer;

  constructor(
    key: Uint8Array,
    private readonly randomness: Randomness,
  ) {
    if (key.byteLength !== VAULT_KEY_BYTES) throw new RangeError(`a vault key has ${VAULT_KEY_BYTES} bytes`);
    this.key = Buffer.from(key);
  }

  /** `place` names what the value is and whose, most general first; it is authenticated, not stored. */
  seal(plaintext: Uint8Array, place: readonly string[]): Buffer {
    const nonce = this.randomness.bytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedBytes(place));
    const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), ciphertext]);
  }

  /**
   * The caller zeroes what it gets.
   * @throws {SealedValueRefused}
   */
  open(sealed: Uint8Array, place: readonly string[]): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.byteLength < HEADER_BYTES || bytes[0] !== FORMAT) throw new SealedValueRefused('not a sealed value');
    const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(associatedBytes(place));
    decipher.setAuthTag(bytes.subarray(1 + NONCE_BYTES, HEADER_BYTES));
    const plaintext = decipher.update(bytes.subarray(HEADER_BYTES));
    try {
      return Buffer.concat([plaintext, decipher.final()]);
    } catch (error) {
      throw new SealedValueRefused('the value does not open here', { cause: error });
    } finally {
      // Unauthenticated until `final`, and a copy afterwards.
      plaintext.fill(0);
    }
  }

  /**
   * A key of its own for one purpose (HKDF-SHA256, RFC 5869; the vault key is uniform, so there is no salt). `purpose`: a
   * context first, then whose; no part holds a line feed. Nobody learns the vault key from it, nor the key of another purpose.
   */
  deriveKey(purpose: readonly string[]): Uint8Array {
    if (purpose.some((part) => part.includes('\n'))) throw new RangeError('a purpose is told apart by its lines');
    return new Uint8Array(hkdfSync('sha256', this.key, '', purpose.join('\n'), DERIVED_KEY_BYTES));
  }

  /** Recognises the key without revealing it: stored once, compared at every start. */
  checkValue(): string {
    return createHmac('sha256', this.key).update(CHECK_CONTEXT).digest('hex');
  }

  isOwnCheckValue(stored: string): boolean {
    const [own, other] = [Buffer.from(this.checkValue()), Buffer.from(stored)];
    return own.byteLength === other.byteLength && timingSafeEqual(own, other);
  }
}

/** Each part with its length, so that no two places share their bytes. */
const associatedBytes = (place: readonly string[]): Buffer =>
  Buffer.concat(
    place.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.byteLength);
      return [length, bytes];
    }),
  );
