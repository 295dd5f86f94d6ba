import { randomBytes } from 'node:crypto';
import { Randomness } from '#libs/domain/kernel';

/** The kernel's generator, by way of OpenSSL. */
export class SystemRandomness extends Randomness {
  bytes(length: number): Uint8Array {
    return new Uint8Array(randomBytes(length));
  }
}
