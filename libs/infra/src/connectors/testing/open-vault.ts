import { createHash } from 'node:crypto';
import { type OpenedSecret, type SecretPlace, type StoredSecret, Vault } from '#libs/domain/connectors';

/** Holds opened secrets, so that a test can look at their bytes afterwards; sealing is the real vault's own spec. */
export class OpenVault extends Vault {
  readonly opened: Buffer[] = [];
  private readonly rows = new Map<string, ReadonlyMap<string, Uint8Array>>();

  override put(secret: StoredSecret, fields: ReadonlyMap<string, Uint8Array>): Promise<void> {
    this.rows.set(secret.version, fields);
    return Promise.resolve();
  }

  override open({ version }: SecretPlace): Promise<OpenedSecret | null> {
    const row = this.rows.get(version);
    if (row === undefined) return Promise.resolve(null);
    const fields = new Map([...row].map(([field, bytes]) => [field, Buffer.from(bytes)]));
    this.opened.push(...fields.values());
    const destroy = () => {
      for (const bytes of fields.values()) bytes.fill(0);
    };
    return Promise.resolve({ fields, destroy });
  }

  override destroy({ version }: SecretPlace): Promise<void> {
    this.rows.delete(version);
    return Promise.resolve();
  }

  /** Its own for each object, the same every time; from the vault's key is the real vault's own spec. */
  override markKeyOf({ org, object }: Pick<SecretPlace, 'org' | 'object'>): Promise<Uint8Array> {
    return Promise.resolve(createHash('sha256').update(`${org} ${object}`).digest());
  }

  override async *olderThan(): AsyncIterable<StoredSecret> {
    await Promise.resolve();
    yield* [];
  }
}
