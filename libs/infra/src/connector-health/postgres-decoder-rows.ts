import type pg from 'pg';
import { type ConnectorId, type OrgId, timestampOf } from '#libs/domain/kernel';
import {
  type DecoderAddress,
  type DecoderLook,
  type DecoderRow,
  type DecoderRowReason,
  DecoderRows,
} from '#libs/domain/witness';
import { answered } from '../postgres/index.js';

const PAGE_ROWS = 500;

const SAVE = `
  insert into connectors.decoders as decoder (connector, org, name, reason, lag_bytes, position, since_ms, seen_ms)
    values ($1, $2, $3, $4, $5, $6, $7, $7)
  on conflict (connector) do update set
    since_ms = case when decoder.reason is distinct from excluded.reason then excluded.since_ms else decoder.since_ms end,
    reason = excluded.reason, lag_bytes = excluded.lag_bytes,
    position = coalesce(excluded.position, decoder.position), seen_ms = excluded.seen_ms`;

const COLUMNS = 'connector, org, name, reason, lag_bytes, position, since_ms, seen_ms';

interface StoredRow {
  readonly connector: ConnectorId;
  readonly org: OrgId;
  readonly name: string;
  readonly reason: DecoderRowReason | null;
  readonly lag_bytes: string | null;
  readonly position: string | null;
  readonly since_ms: string;
  readonly seen_ms: string;
}

/** Rows of `connectors.decoders`, one a connector. A relaxed pool will do: a look that is lost is followed by the next. */
export class PostgresDecoderRows extends DecoderRows {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async save(look: DecoderLook, nowMs: number): Promise<void> {
    const { connector, org, name, reason, lagBytes, position } = look;
    await answered(this.pool.query(SAVE, [connector, org, name, reason, lagBytes, position, nowMs]));
  }

  override async of(connectors: readonly ConnectorId[]): Promise<ReadonlyMap<ConnectorId, DecoderRow>> {
    if (connectors.length === 0) return new Map();
    const { rows } = await answered(
      this.pool.query<StoredRow>(`select ${COLUMNS} from connectors.decoders where connector = any($1::text[])`, [
        connectors,
      ]),
    );
    return new Map(rows.map((row) => [row.connector, rowOf(row)]));
  }

  override async in(org: OrgId): Promise<readonly DecoderRow[]> {
    const { rows } = await answered(
      this.pool.query<StoredRow>(
        `select ${COLUMNS} from connectors.decoders where org = $1 order by name, connector limit ${PAGE_ROWS}`,
        [org],
      ),
    );
    return rows.map(rowOf);
  }

  override async *all(): AsyncIterable<DecoderAddress> {
    let last = '';
    for (;;) {
      const { rows }: { rows: DecoderAddress[] } = await answered(
        this.pool.query<DecoderAddress & pg.QueryResultRow>(
          `select connector, org, name from connectors.decoders where connector > $1
            order by connector limit ${PAGE_ROWS}`,
          [last],
        ),
      );
      yield* rows;
      last = rows.at(-1)?.connector ?? last;
      if (rows.length < PAGE_ROWS) return;
    }
  }

  override async forget(connector: ConnectorId): Promise<void> {
    await answered(this.pool.query('delete from connectors.decoders where connector = $1', [connector]));
  }
}

const rowOf = ({ lag_bytes, since_ms, seen_ms, ...row }: StoredRow): DecoderRow => ({
  ...row,
  lagBytes: lag_bytes === null ? null : Number(lag_bytes),
  since: timestampOf(Number(since_ms)),
  seenAt: timestampOf(Number(seen_ms)),
});
