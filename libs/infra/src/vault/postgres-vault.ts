import type pg from 'pg';

import { type OpenedSecret, type SecretPlace, type StoredSecret, Vault } from '#libs/domain/connectors';
import { DomainError, type OrgId } from '#libs/domain/kernel';

import { SealedValueRefused, type VaultCipher } from './vault-cipher.js';

const CONTEXT = 'service/vault-secret/v1';
const MARK_KEY_CONTEXT = 'service/action-mark-key/v1';
const PAGE_ROWS = 500;

interface SecretRow {
  readonly org: string;
  readonly object: string;
  readonly version: string;
  readonly stream: string;
}

/**
 * Rows of `vault_secrets`, one a field. The ciphertext is bound to organization, object, version and field: a row moved
 * by hand does not open (rule CON-10). Give it a durable pool: where the event store is another server, the rows must
 * be on disk before the event that names them.
 */
export class PostgresVault extends Vault {
  constructor(
    private readonly pool: pg.Pool,
    private readonly cipher: VaultCipher,
  ) {
    super();
  }

  override async put(secret: StoredSecret, fields: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const names = [...fields.keys()];
    const sealed = [...fields].map(([field, bytes]) => this.cipher.seal(bytes, placeOf(secret, field)));
    await available(
      this.pool.query(
        `insert into vault_secrets (org, object, version, stream, field, sealed)
         select $1, $2, $3, $4, * from unnest($5::text[], $6::bytea[])
         on conflict (org, object, version, field) do update set sealed = excluded.sealed, stream = excluded.stream`,
        [secret.org, secret.object, secret.version, secret.stream, names, sealed],
      ),
    );
  }

  override async open(place: SecretPlace): Promise<OpenedSecret | null> {
    const { rows } = await available(
      this.pool.query<{ field: string; sealed: Buffer }>(
        'select field, sealed from vault_secrets where org = $1 and object = $2 and version = $3',
        [place.org, place.object, place.version],
      ),
    );
    if (rows.length === 0) return null;
    const opened = new Map<string, Buffer>();
    const destroy = (): void => {
      for (const bytes of opened.values()) bytes.fill(0);
    };
    try {
      for (const { field, sealed } of rows) opened.set(field, this.cipher.open(sealed, placeOf(place, field)));
      return { fields: opened, destroy };
    } catch (error) {
      destroy();
      throw error instanceof SealedValueRefused ? new DomainError('vault_unavailable', { cause: error }) : error;
    }
  }

  override async destroy({ org, object, version }: SecretPlace): Promise<void> {
    await available(
      this.pool.query('delete from vault_secrets where org = $1 and object = $2 and version = $3', [
        org,
        object,
        version,
      ]),
    );
  }

  override markKeyOf({ org, object }: Pick<SecretPlace, 'org' | 'object'>): Promise<Uint8Array> {
    return Promise.resolve(this.cipher.deriveKey([MARK_KEY_CONTEXT, org, object]));
  }

  override async *olderThan(ageMs: number): AsyncIterable<StoredSecret> {
    let last: SecretRow | undefined;
    for (;;) {
      const { rows }: { rows: SecretRow[] } = await available(
        this.pool.query<SecretRow>(
          `select org, object, version, min(stream) as stream from vault_secrets
           where created_at < now() - $1 * interval '1 millisecond' and (org, object, version) > ($2, $3, $4)
           group by org, object, version order by org, object, version limit ${PAGE_ROWS}`,
          [ageMs, last?.org ?? '', last?.object ?? '', last?.version ?? ''],
        ),
      );
      for (const row of rows) yield { ...row, org: row.org as OrgId };
      last = rows.at(-1);
      if (rows.length < PAGE_ROWS) return;
    }
  }
}

const placeOf = ({ org, object, version }: SecretPlace, field: string): readonly string[] => [
  CONTEXT,
  org,
  object,
  version,
  field,
];

/** Whatever the database did, the credentials could not be had; the cause is for the log. */
const available = async <Answer>(query: Promise<Answer>): Promise<Answer> => {
  try {
    return await query;
  } catch (error) {
    throw new DomainError('vault_unavailable', { cause: error });
  }
};
