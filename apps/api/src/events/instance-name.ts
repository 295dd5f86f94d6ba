import { encodeHex } from '#libs/crypto';
import type { Randomness } from '#libs/domain/kernel';

/** Names one start of this process in the cursors that it gives out: 16 lowercase letters and digits, by chance. */
export const instanceName = (randomness: Randomness): string => encodeHex(randomness.bytes(8));
