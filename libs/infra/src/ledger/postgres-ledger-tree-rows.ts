import type pg from 'pg';
import { EMPTY_FRONTIER, type Frontier, type Tile, type TileId } from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import { LedgerTreeRows } from '#libs/domain/ledger';
import { answered, inTransaction, type Transaction } from '#libs/infra/postgres';

const NOT_THERE = new Uint8Array(0);

/** Tiles and frontier of a tree change together, so a tree is read as it was at one moment. */
export class PostgresLedgerTreeRows extends LedgerTreeRows {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async frontier(org: OrgId): Promise<Frontier> {
    const { rows } = await answered(
      this.pool.query<{ size: string; hashes: Buffer }>(`select size, hashes from ledger.frontiers where org = $1`, [
        org,
      ]),
    );
    const row = rows[0];
    return row ? { size: Number(row.size), hashes: row.hashes } : EMPTY_FRONTIER;
  }

  override async tiles(org: OrgId, ids: readonly TileId[]): Promise<readonly Uint8Array[]> {
    const { rows } = await answered(
      this.pool.query<{ place: string; hashes: Buffer }>(
        `select asked.place, tiles.hashes
         from unnest($2::smallint[], $3::bigint[]) with ordinality as asked (level, index, place)
         join ledger.tiles on tiles.org = $1 and tiles.level = asked.level and tiles.index = asked.index`,
        [org, ids.map(({ level }) => level), ids.map(({ index }) => index)],
      ),
    );
    const found = new Map(rows.map(({ place, hashes }) => [Number(place), hashes]));
    return ids.map((_, index) => found.get(index + 1) ?? NOT_THERE);
  }

  override grow(org: OrgId, from: number, tiles: readonly Tile[], frontier: Frontier): Promise<boolean> {
    return inTransaction(this.pool, async (query) => {
      if (!(await move(query, org, from, frontier))) return false;
      if (tiles.length === 0) return true;
      await query(
        `insert into ledger.tiles (org, level, index, hashes)
         select $1, level, index, hashes from unnest($2::smallint[], $3::bigint[], $4::bytea[]) as made (level, index, hashes)
         on conflict (org, level, index) do update set hashes = excluded.hashes`,
        [
          org,
          tiles.map(({ level }) => level),
          tiles.map(({ index }) => index),
          tiles.map(({ hashes }) => Buffer.from(hashes)),
        ],
      );
      return true;
    });
  }

  override async remove(org: OrgId): Promise<void> {
    await inTransaction(this.pool, async (query) => {
      await query(`delete from ledger.frontiers where org = $1`, [org]);
      await query(`delete from ledger.tiles where org = $1`, [org]);
    });
  }
}

/** Of two that make the same tree grow, the row lets one. */
const move = async (query: Transaction, org: OrgId, from: number, { size, hashes }: Frontier): Promise<boolean> => {
  const values = [org, size, Buffer.from(hashes)];
  const { rowCount } =
    from === 0
      ? await query(
          `insert into ledger.frontiers (org, size, hashes) values ($1, $2, $3) on conflict (org) do nothing`,
          values,
        )
      : await query(`update ledger.frontiers set size = $2, hashes = $3 where org = $1 and size = $4`, [
          ...values,
          from,
        ]);
  return rowCount === 1;
};
