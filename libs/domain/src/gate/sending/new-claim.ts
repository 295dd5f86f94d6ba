import type { Randomness } from '../../kernel/index.js';
import type { Claimant } from '../action/index.js';

/** Random bytes of a claim token, enough that no two claims are equal. */
const CLAIM_BYTES = 16;

/** A claim that nobody has made yet, by this executor. */
export const newClaim = (executor: string, randomness: Randomness): Claimant => ({
  executor,
  claim: Buffer.from(randomness.bytes(CLAIM_BYTES)).toString('hex'),
});
