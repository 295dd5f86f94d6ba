import type pg from 'pg';
import { SigningKey } from '#libs/crypto';
import { DomainError, ForeseenFault } from '#libs/domain/kernel';
import { SealKeyRing } from '#libs/domain/ledger';
import { answered } from '#libs/infra/postgres';
import { SealedValueRefused, type VaultCipher } from '#libs/infra/vault';

const CONTEXT = 'service/seal-key/v1';

/** The private half of a seal key is not available, so nothing can be sealed under it. */
class ClosedSealKey extends ForeseenFault {
  override readonly name = 'ClosedSealKey';
  constructor(kid: string, why: string) {
    super(
      `the private half of the seal key ${kid} ${why}: put back the PostgreSQL that holds it, or make another key with ` +
        '`npm run ags -- seal-keys rotate`',
    );
  }
}

const closed = (cause: ClosedSealKey): DomainError => new DomainError('vault_unavailable', { cause });

/**
 * Stores private seal keys as ciphertexts under the vault key, bound to their kid. Opened keys stay in memory, because
 * sealing is frequent.
 */
export class VaultSealKeyRing extends SealKeyRing {
  private readonly opened = new Map<string, SigningKey>();

  constructor(
    private readonly pool: pg.Pool,
    private readonly cipher: VaultCipher,
  ) {
    super();
  }

  override async open(kid: string): Promise<SigningKey> {
    const known = this.opened.get(kid);
    if (known) return known;
    const { rows } = await answered(
      this.pool.query<{ ciphertext: Buffer }>(`select ciphertext from ledger.seal_keys where kid = $1`, [kid]),
    );
    const row = rows[0];
    if (!row) throw closed(new ClosedSealKey(kid, 'is not in this PostgreSQL'));
    const key = this.decrypted(kid, row.ciphertext);
    this.opened.set(kid, key);
    return key;
  }

  override async store(key: SigningKey): Promise<void> {
    const { kid } = key.publicKey;
    const ciphertext = this.cipher.seal(Buffer.from(key.toPkcs8Pem()), [CONTEXT, kid]);
    await answered(
      this.pool.query(`insert into ledger.seal_keys (kid, ciphertext) values ($1, $2) on conflict do nothing`, [
        kid,
        ciphertext,
      ]),
    );
  }

  private decrypted(kid: string, ciphertext: Buffer): SigningKey {
    try {
      const pem = this.cipher.open(ciphertext, [CONTEXT, kid]);
      const key = SigningKey.fromPkcs8Pem(pem.toString('utf8'));
      pem.fill(0);
      return key;
    } catch (error) {
      throw error instanceof SealedValueRefused ? closed(new ClosedSealKey(kid, 'does not open here')) : error;
    }
  }
}
