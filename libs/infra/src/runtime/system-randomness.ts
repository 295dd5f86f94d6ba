import { randomFillSync } from 'node:crypto';
import { Randomness } from '#libs/domain/kernel';

/**
 * A call of OpenSSL costs as much for this many bytes as for sixteen, and an action needs random bytes half a dozen
 * times.
 */
const POOL_BYTES = 4_096;

/**
 * The kernel's random generator, through OpenSSL. No byte is handed out twice, and none is kept after it was handed
 * out.
 */
export class SystemRandomness extends Randomness {
  private readonly pool = new Uint8Array(POOL_BYTES);
  private used = POOL_BYTES;

  bytes(length: number): Uint8Array {
    if (length > POOL_BYTES) return randomFillSync(new Uint8Array(length));
    if (this.used + length > POOL_BYTES) {
      randomFillSync(this.pool);
      this.used = 0;
    }
    const end = this.used + length;
    const taken = this.pool.slice(this.used, end);
    this.pool.fill(0, this.used, end);
    this.used = end;
    return taken;
  }
}
