import type pg from 'pg';
import { answered } from '#libs/infra/postgres';
import type { Digest } from '#libs/crypto';
import { PayloadRows, type PayloadPage, type PayloadRow } from '#libs/domain/gate';
import type { EventStore, OrgId, PayloadKind } from '#libs/domain/kernel';

const CHECKPOINT = 'payload_sweep';
/** The position before the first row, because numbers begin at 1. */
const BEGINNING = 0n;

interface NumberedRow {
  readonly number: string;
  readonly owner: string;
  readonly org: OrgId;
  readonly kind: PayloadKind;
  readonly digest: Digest;
  readonly is_old: boolean;
}

/**
 * Pages of payload rows by number. Numbers are assigned before their transactions commit, and a clock may jump. Neither
 * lets the sweep skip a row, because a page ends before the first row that is younger than `minAgeMs` (an hour). The
 * sweep's position is void under another store, because its streams may name other rows.
 */
export class PostgresPayloadRows extends PayloadRows {
  constructor(
    private readonly pool: pg.Pool,
    private readonly store: EventStore,
  ) {
    super();
  }

  override async next(minAgeMs: number, limit: number): Promise<PayloadPage> {
    const from = await this.place();
    const { rows } = await answered(
      this.pool.query<NumberedRow>(
        `select number, owner, org, kind, digest, created_at < now() - $3 * interval '1 millisecond' as is_old
           from gate.payloads where number > $1 order by number limit $2`,
        [String(from), limit, minAgeMs],
      ),
    );
    const firstYoung = rows.findIndex((row) => !row.is_old);
    const old = firstYoung === -1 ? rows : rows.slice(0, firstYoung);
    return {
      from,
      rows: old.map(({ number, owner, org, kind, digest }) => ({ number: BigInt(number), owner, org, kind, digest })),
    };
  }

  override async settle({ from, rows }: PayloadPage, orphans: readonly PayloadRow[]): Promise<boolean> {
    const to = rows.at(-1)?.number ?? from;
    // One statement, so that the position moves and the rows are removed in one transaction.
    const { rowCount } = await answered(
      this.pool.query(
        `with moved as (
           insert into gate.checkpoint (name, store_id, position) values ($1, $2, $4)
           on conflict (name) do update set store_id = excluded.store_id, position = excluded.position
             where gate.checkpoint.store_id <> excluded.store_id or gate.checkpoint.position = $3
           returning name
         ), removed as (
           delete from gate.payloads where number = any($5::bigint[]) and exists (select from moved)
           returning owner, kind, digest
         ), unsalted as (
           delete from gate.payload_salts using removed
            where (payload_salts.owner, payload_salts.kind, payload_salts.digest)
                = (removed.owner, removed.kind, removed.digest)
         )
         select from moved`,
        [CHECKPOINT, await this.store.storeId(), String(from), String(to), orphans.map(({ number }) => String(number))],
      ),
    );
    return rowCount === 1;
  }

  private async place(): Promise<bigint> {
    const { rows } = await answered(
      this.pool.query<{ position: string }>(`select position from gate.checkpoint where name = $1 and store_id = $2`, [
        CHECKPOINT,
        await this.store.storeId(),
      ]),
    );
    return BigInt(rows[0]?.position ?? BEGINNING);
  }
}
