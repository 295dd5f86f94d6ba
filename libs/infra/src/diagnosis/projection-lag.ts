import type pg from 'pg';
import { standsInLog, START, type EventStore, type Position, type RecordedEvent } from '#libs/domain/kernel';
import { PROJECTION_NAMES, type ProjectionName } from '../read-models/index.js';

/** A lag is counted up to here. */
export const PROJECTION_LAG_LIMIT = 1_000;
/** Events may be large. */
const PAGE = 100;

/** Projections that are behind the log for too long. */
export interface ProjectionLag {
  readonly late: readonly ProjectionName[];
  /** The first event that one of them has not reached. */
  readonly oldest: RecordedEvent;
  /** What the last of them has not reached; counted up to {@link PROJECTION_LAG_LIMIT}. */
  readonly events: number;
}

/**
 * How far the projections are, by the log and their checkpoints alone. Null where none is late. Reads only.
 *
 * @param isOld of an event that should have been reached
 */
export const inspectProjections = async (
  pool: pg.Pool,
  store: Pick<EventStore, 'storeId' | 'readAll'>,
  isOld: (recorded: RecordedEvent) => boolean,
): Promise<ProjectionLag | null> => {
  const reached = await checkpointsOf(pool, store);
  const positions = [...new Set(PROJECTION_NAMES.map((name) => reached.get(name) ?? START))].sort(byPosition);
  const lateAt: Position[] = [];
  let oldest: RecordedEvent | null = null;
  for (const position of positions) {
    const [next] = await store.readAll(position, 1);
    if (next === undefined || !isOld(next)) break;
    oldest ??= next;
    lateAt.push(position);
  }
  if (oldest === null) return null;
  const late = PROJECTION_NAMES.filter((name) => lateAt.includes(reached.get(name) ?? START));
  return { late, oldest, events: await countAfter(store, positions[0] ?? START) };
};

/** One of another store, or beyond a log that went back in time, is void. */
const checkpointsOf = async (
  pool: pg.Pool,
  store: Pick<EventStore, 'storeId' | 'readAll'>,
): Promise<ReadonlyMap<string, Position>> => {
  const { rows } = await pool.query<{ name: string; position: string }>(
    'select name, position from read_models.projection_checkpoints where store_id = $1',
    [await store.storeId()],
  );
  const reached = new Map(rows.map(({ name, position }) => [name, BigInt(position)]));
  for (const [name, position] of reached) if (!(await standsInLog(store, position))) reached.delete(name);
  return reached;
};

const byPosition = (one: Position, other: Position): number => (one < other ? -1 : one > other ? 1 : 0);

const countAfter = async (store: Pick<EventStore, 'readAll'>, after: Position): Promise<number> => {
  let count = 0;
  for (let from = after; count < PROJECTION_LAG_LIMIT;) {
    const page = await store.readAll(from, PAGE);
    const last = page.at(-1);
    count += page.length;
    if (!last || page.length < PAGE) break;
    from = last.position;
  }
  return Math.min(count, PROJECTION_LAG_LIMIT);
};
