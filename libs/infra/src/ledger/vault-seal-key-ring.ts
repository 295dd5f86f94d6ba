import type pg from 'pg';
import type { SigningKey } from '#libs/crypto';
import { SealKeyRing } from '#libs/domain/ledger';
import type { VaultCipher } from '#libs/infra/vault';
import { VaultKeyPairs } from './vault-key-pairs.js';

const SEAL_KEYS = {
  what: 'seal key',
  table: 'ledger.seal_keys',
  context: 'service/seal-key/v1',
  rotation: 'seal-keys rotate',
} as const;

export class VaultSealKeyRing extends SealKeyRing {
  private readonly keys: VaultKeyPairs;

  constructor(pool: pg.Pool, cipher: VaultCipher) {
    super();
    this.keys = new VaultKeyPairs(SEAL_KEYS, pool, cipher);
  }

  override open(kid: string): Promise<SigningKey> {
    return this.keys.open(kid);
  }

  override store(key: SigningKey): Promise<void> {
    return this.keys.store(key);
  }
}
