import type pg from 'pg';
import type { SigningKey } from '#libs/crypto';
import { CheckpointKeyRing } from '#libs/domain/ledger';
import type { VaultCipher } from '#libs/infra/vault';
import { VaultKeyPairs } from './vault-key-pairs.js';

const CHECKPOINT_KEYS = {
  what: 'checkpoint key',
  table: 'ledger.checkpoint_keys',
  context: 'service/checkpoint-key/v1',
  rotation: 'checkpoint-keys rotate',
} as const;

/** A table and a context of its own: neither kind of key can be opened as the other. */
export class VaultCheckpointKeyRing extends CheckpointKeyRing {
  private readonly keys: VaultKeyPairs;

  constructor(pool: pg.Pool, cipher: VaultCipher) {
    super();
    this.keys = new VaultKeyPairs(CHECKPOINT_KEYS, pool, cipher);
  }

  override open(kid: string): Promise<SigningKey> {
    return this.keys.open(kid);
  }

  override store(key: SigningKey): Promise<void> {
    return this.keys.store(key);
  }
}
