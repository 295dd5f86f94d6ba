import { createHmac, hkdfSync } from 'node:crypto';

const KEY_INFO = 'service/idempotency-fingerprint/v1';
const KEY_BYTES = 32;

/**
 * What a row keeps of a request's fingerprint: an HMAC-SHA256 under a key derived from the pepper (HKDF-SHA256, RFC 5869).
 * A body may hold a code or a password that can be guessed. Beside a plain digest of it each guess could be tested by
 * whoever has a copy of the table; beside this one only by who has the pepper too, which is in no table.
 */
export class KeptFingerprint {
  private readonly key: Buffer;

  /** @param pepper the deployment's secret */
  constructor(pepper: Uint8Array) {
    this.key = Buffer.from(hkdfSync('sha256', pepper, '', KEY_INFO, KEY_BYTES));
  }

  /**
   * @param row the id of the row: the same body under two keys leaves nothing that is the same
   * @param fingerprint the plain one, lowercase hex
   * @returns `hmac-sha256:` and 64 lowercase hex digits, so that no plain fingerprint reads as one
   */
  of(row: Uint8Array, fingerprint: string): string {
    return `hmac-sha256:${createHmac('sha256', this.key).update(row).update(fingerprint).digest('hex')}`;
  }
}
