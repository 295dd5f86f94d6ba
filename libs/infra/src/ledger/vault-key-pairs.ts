import type pg from 'pg';
import { SigningKey } from '#libs/crypto';
import { DomainError, ForeseenFault } from '#libs/domain/kernel';
import { answered } from '#libs/infra/postgres';
import { SealedValueRefused, type VaultCipher } from '#libs/infra/vault';

/** The private half of a key is not available, so nothing can be signed by it. */
class ClosedKey extends ForeseenFault {
  override readonly name = 'ClosedKey';
  constructor({ what, rotation }: KeyPairsKind, kid: string, why: string) {
    super(
      `the private half of the ${what} ${kid} ${why}: put back the PostgreSQL that holds it, or make another key with ` +
        `\`npm run ags -- ${rotation}\``,
    );
  }
}

/** One kind of keys of the service. */
export interface KeyPairsKind {
  readonly what: string;
  /** The table, with the columns `kid` and `ciphertext`. */
  readonly table: string;
  /** What a ciphertext is bound to, with the kid. */
  readonly context: string;
  /** The command that makes another one. */
  readonly rotation: string;
}

/**
 * Stores private signing keys as ciphertexts under the vault key, bound to their kid. Opened keys stay in memory, because
 * signing is frequent.
 */
export class VaultKeyPairs {
  private readonly opened = new Map<string, SigningKey>();

  constructor(
    private readonly kind: KeyPairsKind,
    private readonly pool: pg.Pool,
    private readonly cipher: VaultCipher,
  ) {}

  async open(kid: string): Promise<SigningKey> {
    const known = this.opened.get(kid);
    if (known) return known;
    const { rows } = await answered(
      this.pool.query<{ ciphertext: Buffer }>(`select ciphertext from ${this.kind.table} where kid = $1`, [kid]),
    );
    const row = rows[0];
    if (!row) throw this.closed(kid, 'is not in this PostgreSQL');
    const key = this.decrypted(kid, row.ciphertext);
    this.opened.set(kid, key);
    return key;
  }

  async store(key: SigningKey): Promise<void> {
    const { kid } = key.publicKey;
    const ciphertext = this.cipher.seal(Buffer.from(key.toPkcs8Pem()), [this.kind.context, kid]);
    await answered(
      this.pool.query(`insert into ${this.kind.table} (kid, ciphertext) values ($1, $2) on conflict do nothing`, [
        kid,
        ciphertext,
      ]),
    );
  }

  private decrypted(kid: string, ciphertext: Buffer): SigningKey {
    try {
      const pem = this.cipher.open(ciphertext, [this.kind.context, kid]);
      const key = SigningKey.fromPkcs8Pem(pem.toString('utf8'));
      pem.fill(0);
      return key;
    } catch (error) {
      throw error instanceof SealedValueRefused ? this.closed(kid, 'does not open here') : error;
    }
  }

  private closed(kid: string, why: string): DomainError {
    return new DomainError('vault_unavailable', { cause: new ClosedKey(this.kind, kid, why) });
  }
}
