import type pg from 'pg';
import type { VaultCipher } from './vault-cipher.js';

/** The configured key is not the one this database's secrets are sealed under. */
export class VaultKeyMismatch extends Error {
  override readonly name = 'VaultKeyMismatch';
}

/**
 * Remembers the key of a new database and recognises it at every later start, so that a wrong key file is noticed before
 * the first call and not by it.
 * @throws {VaultKeyMismatch}
 */
export const requireVaultKey = async (pool: pg.Pool, cipher: VaultCipher): Promise<void> => {
  await pool.query('insert into vault_key_check (check_value) values ($1) on conflict do nothing', [
    cipher.checkValue(),
  ]);
  if (await isKnownVaultKey(pool, cipher)) return;
  throw new VaultKeyMismatch(
    'The vault key is not the one this database was set up with. Restore the key file from your backup.',
  );
};

/** Whether this is the key that the database remembers; false also where it remembers none. Changes nothing. */
export const isKnownVaultKey = async (pool: pg.Pool, cipher: VaultCipher): Promise<boolean> => {
  const { rows } = await pool.query<{ check_value: string }>('select check_value from vault_key_check');
  return rows[0] !== undefined && cipher.isOwnCheckValue(rows[0].check_value);
};
