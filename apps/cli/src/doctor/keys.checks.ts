import { parsePublicKeyText } from '#libs/crypto';
import { DomainError, ONLY_STREAM, streamRef, timestampOf } from '#libs/domain/kernel';
import { isKnownPepper } from '#libs/infra/agents';
import { readSecretFile, secretPathsOf } from '#libs/infra/config';
import { SystemRandomness } from '#libs/infra/runtime';
import { isKnownVaultKey, VaultCipher } from '#libs/infra/vault';
import type { Examination } from './examination.js';
import { ok, problem, warning, type Finding } from './finding.js';

const RESTORE_HELP = 'Restore the key file from your backup.';
const ROTATE_HELP = 'Run `npm run ags -- seal-keys rotate`.';

/** @throws {SecretFileError} it is missing, open to others, or not 32 bytes */
export const checkVaultKey = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  if (await isKnownVaultKey(pool, await cipherOf(examination))) return ok('The vault key opens what is stored.');
  return problem('The vault key is not the one that this database was set up with.', RESTORE_HELP);
};

/** @throws {SecretFileError} it is missing, open to others, or not 32 bytes */
export const checkPepper = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  const pepper = await readSecretFile(secretPathsOf(examination.config).pepper);
  if (await isKnownPepper(pool, pepper)) return ok('The pepper is the one that API keys are hashed under.');
  return problem('The pepper is not the one that this database was set up with.', RESTORE_HELP);
};

/** Whether something seals now, and this deployment holds its private half. */
export const checkSealKey = async (examination: Examination): Promise<Finding> => {
  const { nextSeal, sealKeyDecider } = await import('#libs/domain/ledger');
  const { VaultSealKeyRing } = await import('#libs/infra/ledger');
  const { pool, streams } = await examination.database();
  const keys = (await streams.load(streamRef(sealKeyDecider, ONLY_STREAM))).state;
  const now = timestampOf(Date.now());
  const active = nextSeal(keys, now)?.key;
  if (!active) return problem('No seal key is active, so outcomes wait unsealed.', ROTATE_HELP);
  const { fingerprint } = parsePublicKeyText(active.publicKey);
  try {
    const { publicKey } = await new VaultSealKeyRing(pool, await cipherOf(examination)).open(active.kid);
    if (publicKey.text !== active.publicKey) {
      return problem(`What is stored for the seal key ${active.kid} is another key.`, ROTATE_HELP);
    }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return problem(`The private half of the seal key ${active.kid} does not open.`, ROTATE_HELP);
  }
  if (active.activatedAt !== null && active.activatedAt > now) {
    return warning(
      `The clock of this machine says ${now}, and the seal key ${active.kid} was activated at ${active.activatedAt}: ` +
        'new deeds are dated at the activation until the clock has passed it.',
      'Set the clock of this machine.',
    );
  }
  if (active.retiredAt !== null) {
    return warning(`The seal key ${active.kid} retires at ${active.retiredAt}, and no other follows.`, ROTATE_HELP);
  }
  return ok(`Deeds are sealed with ${active.kid} (${fingerprint}).`);
};

const cipherOf = async ({ config }: Examination): Promise<VaultCipher> =>
  new VaultCipher(await readSecretFile(secretPathsOf(config).vaultKey), new SystemRandomness());
