import { createHmac, timingSafeEqual } from 'node:crypto';
import { KeyHasher } from '#libs/domain/agents';

/** HMAC-SHA256 under the pepper. Secrets carry 160 random bits, so a slow hash would only slow the service. */
export class PepperKeyHasher extends KeyHasher {
  constructor(private readonly pepper: Uint8Array) {
    super();
  }

  override hash(secret: string): string {
    return this.mac(secret).toString('hex');
  }

  override matches(secret: string, hash: string): boolean {
    const expected = Buffer.from(hash, 'hex');
    const actual = this.mac(secret);
    return expected.byteLength === actual.byteLength && timingSafeEqual(actual, expected);
  }

  private mac(secret: string): Buffer {
    return createHmac('sha256', this.pepper).update(`service/api-key/v1\n${secret}`).digest();
  }
}
