import type pg from 'pg';
import { answered } from '#libs/infra/postgres';
import type { Digest } from '#libs/crypto';
import { PayloadStore, type Payload, type PayloadKind } from '#libs/domain/kernel';

/** Bodies are RFC 8785 text: U+0000 is always escaped in it, so `text` holds every one. */
export class PostgresPayloadStore extends PayloadStore {
  /** @param pool relaxed where the event store is in the same server, durable beside any other */
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async put({ owner, org, kind, digest, body }: Payload): Promise<void> {
    await answered(
      this.pool.query({
        name: 'payload-put',
        text: `insert into gate.payloads (owner, kind, digest, org, body) values ($1, $2, $3, $4, $5) on conflict do nothing`,
        values: [owner, kind, digest, org, body],
      }),
    );
  }

  override async get(owner: string, kind: PayloadKind, digest: Digest): Promise<string | null> {
    const { rows } = await answered(
      this.pool.query<{ body: string }>({
        name: 'payload-get',
        text: `select body from gate.payloads where owner = $1 and kind = $2 and digest = $3`,
        values: [owner, kind, digest],
      }),
    );
    return rows[0]?.body ?? null;
  }
}
