import { timestampOf, type Clock } from '#libs/domain/kernel';
import { Column, Entity, PrimaryColumn, type DataSource, type EntityManager } from 'typeorm';
import { TEXT } from '../columns.js';
import type { RowFloor } from '../row-floor.js';
import { PublicEventRow } from './public-event.row.js';

/** Which public events are gone: those of this store below `seq`. Not of the projection, whose tables are exchanged whole. */
@Entity({ name: 'public_event_floors' })
export class PublicEventFloorRow {
  @PrimaryColumn({ ...TEXT, name: 'store_id' }) storeId: string;
  @Column({ type: 'bigint', name: 'seq' }) seq: string;
}

export const PUBLIC_EVENT_DAYS = 7;
const DAY_MS = 86_400_000;
/** A statement stays short, so that the projection and its readers never wait for one that is long. */
const ROWS_AT_ONCE = 10_000;

/** The floor as it was set last: what rebuild and verification obey, and by which a reader knows that it came too late. */
export const PUBLIC_EVENT_FLOOR: RowFloor = {
  rowType: PublicEventRow,
  key: 'seq',
  of: async (manager, storeId) => BigInt((await manager.findOneBy(PublicEventFloorRow, { storeId }))?.seq ?? 0),
};

/**
 * The least `seq` that is still kept: that of the oldest row younger than `before`, or the one after all rows where none is.
 * Null where there are no rows.
 */
const floorBefore = async (manager: EntityManager, before: string): Promise<bigint | null> => {
  const [found] = await manager.query<[{ seq: string | null }]>(
    `SELECT coalesce((SELECT seq FROM read_models.public_events WHERE at >= $1 ORDER BY seq LIMIT 1),
        (SELECT max(seq) + 1 FROM read_models.public_events)) AS seq`,
    [before],
  );
  return found.seq === null ? null : BigInt(found.seq);
};

/** From which `seq` on somebody needs public events still, however old they are. Null: from none. */
export type NeededPublicEvents = (storeId: string) => Promise<bigint | null>;

/** Lets public events go when their days are over. Repeated, stopped or run twice at once it does no harm. */
export class PublicEventPruning {
  constructor(
    private readonly source: DataSource,
    private readonly clock: Pick<Clock, 'nowMs'>,
    private readonly needed: NeededPublicEvents = () => Promise.resolve(null),
  ) {}

  /**
   * Raises the floor first: a crash behind it leaves rows that nobody counts on, and the next round removes them.
   * @param storeId of the log that the rows are made from
   * @returns how many rows went
   */
  async prune(storeId: string): Promise<number> {
    const { manager } = this.source;
    const before = timestampOf(this.clock.nowMs() - PUBLIC_EVENT_DAYS * DAY_MS);
    const over = await floorBefore(manager, before);
    if (over === null) return 0;
    const needed = await this.needed(storeId);
    const floor = needed !== null && needed < over ? needed : over;
    await manager.query(
      `INSERT INTO read_models.public_event_floors AS known (store_id, seq) VALUES ($1, $2)
        ON CONFLICT (store_id) DO UPDATE SET seq = excluded.seq WHERE known.seq < excluded.seq`,
      [storeId, floor.toString()],
    );
    for (let gone = 0; ;) {
      const removed = await this.removeSome(storeId);
      gone += removed;
      if (removed < ROWS_AT_ONCE) return gone;
    }
  }

  private async removeSome(storeId: string): Promise<number> {
    const [, removed] = await this.source.manager.query<[unknown, number]>(
      `DELETE FROM read_models.public_events WHERE seq IN (
        SELECT seq FROM read_models.public_events
         WHERE seq < (SELECT seq FROM read_models.public_event_floors WHERE store_id = $1) ORDER BY seq LIMIT $2)`,
      [storeId, ROWS_AT_ONCE],
    );
    return removed;
  }
}
