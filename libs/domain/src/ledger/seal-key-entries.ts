import type { SealKeyEntry } from '#libs/crypto';
import type { SealKey, SealKeys } from './seal-key.decider.js';

/**
 * The entries of the published key set. A key that is registered and was never activated is left out, because it has
 * sealed nothing.
 */
export const sealKeyEntries = (keys: SealKeys): readonly SealKeyEntry[] =>
  keys.filter((key): key is SealKey & { activatedAt: string } => key.activatedAt !== null).map(entryOf);

const entryOf = (key: SealKey & { activatedAt: string }): SealKeyEntry => ({
  kid: key.kid,
  alg: 'Ed25519',
  public_key: key.publicKey,
  activated_at: key.activatedAt,
  retired_at: key.retiredAt,
  revoked_at: key.revokedAt,
});
