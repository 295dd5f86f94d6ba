import type { SealKeyEntry } from '#libs/crypto';
import type { SealKey, SealKeys } from './seal-key.decider.js';

/** An entry of the key set. Registered keys that never were active are not yet anybody's. */
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
