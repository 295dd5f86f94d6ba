import type pg from 'pg';
import type { Randomness } from '#libs/domain/kernel';
import { requirePepper } from '../agents/index.js';
import { readSecretFile, secretPathsOf, type Config } from '../config/index.js';
import { requireVaultKey, VaultCipher } from '../vault/index.js';

/** What opens credentials and what keys are hashed under. In memory only; the files are the operator's to back up. */
export interface Secrets {
  readonly pepper: Buffer;
  readonly cipher: VaultCipher;
}

/**
 * @throws {SecretFileError} a file is missing, open to others, or not 32 bytes
 * @throws {VaultKeyMismatch} {PepperMismatch} it is not the one this database was set up with
 */
export const openSecrets = async (config: Config, pool: pg.Pool, randomness: Randomness): Promise<Secrets> => {
  const paths = secretPathsOf(config);
  const pepper = await readSecretFile(paths.pepper);
  await requirePepper(pool, pepper);
  const cipher = new VaultCipher(await readSecretFile(paths.vaultKey), randomness);
  await requireVaultKey(pool, cipher);
  return { pepper, cipher };
};
