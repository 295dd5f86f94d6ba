import { createHmac, hkdfSync } from 'node:crypto';
import { SignInHasher, type MailAddress } from '#libs/domain/people';

const KEY_BYTES = 32;

/** HMAC-SHA256 under keys derived from the pepper (HKDF-SHA256, RFC 5869): one for addresses, one for codes. */
export class PepperSignInHasher extends SignInHasher {
  private readonly addressKey: Buffer;
  private readonly codeKey: Buffer;

  constructor(pepper: Uint8Array) {
    super();
    const derived = (info: string): Buffer => Buffer.from(hkdfSync('sha256', pepper, '', info, KEY_BYTES));
    this.addressKey = derived('service/address/v1');
    this.codeKey = derived('service/login-code/v1');
  }

  override addressHash({ normal }: MailAddress): Uint8Array {
    return createHmac('sha256', this.addressKey).update(normal).digest();
  }

  override codeHash(addressHash: Uint8Array, code: string): Uint8Array {
    return createHmac('sha256', this.codeKey).update(addressHash).update(code).digest();
  }
}
