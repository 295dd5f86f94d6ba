import type { Position } from '#libs/domain/kernel';
import { failpoint, START } from '#libs/domain/kernel';
import type pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { ProjectionCheckpointRow, type ProjectionName } from './projection-checkpoint.row.js';
import type { ReplacementTables } from './replacement-tables.js';
import type { ComparedRows } from './row-comparison.js';
import type { RowFloor } from './row-floor.js';
import { RowTransaction, type RowType } from './row-transaction.js';

/** Which rows a checkpoint speaks of: those of one fold over one store. Anything else makes it void. */
export interface ProjectionIdentity {
  readonly name: ProjectionName;
  readonly version: number;
  readonly storeId: string;
  /** Every table the projection writes, and no other projection. */
  readonly rowTypes: readonly RowType<object>[];
  /** Absent where every row is kept. */
  readonly floor?: RowFloor;
}

export interface ResumePoint {
  readonly position: Position;
  /** Why the rows were thrown away and the log is folded anew; null when the checkpoint holds. */
  readonly rebuildReason: 'no_checkpoint' | 'other_store' | 'other_version' | 'beyond_log' | null;
}

/**
 * The checkpoint is not where this process left it: another process projects, an operator asked for a rebuild, or the
 * server lost the last moment of its log. Nothing was written; resume from the checkpoint.
 */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved';
  constructor(projection: ProjectionName) {
    super(`the checkpoint of projection ${projection} was moved by somebody else`);
  }
}

/** The live rows are of another fold or another log than these: they are not replaced. Nothing was changed. */
export class OtherIdentity extends Error {
  override readonly name = 'OtherIdentity';
  constructor(projection: ProjectionName) {
    super(
      `The rows of projection ${projection} belong to another version of this program or to another event store. ` +
        'Start the service of this version: it makes them anew by itself.',
    );
  }
}

/** The rows were made by a newer version of the fold, which still runs or will again: they are its to keep. */
class RowsOfNewerVersion extends Error {
  override readonly name = 'RowsOfNewerVersion';
  constructor(projection: ProjectionName, version: number) {
    super(`the rows of projection ${projection} are those of its version ${version}, which is newer; run that version`);
  }
}

/** Longer, a list that waits behind the swap would notice. */
const SWAP_LOCK_TIMEOUT_MS = 1_000;

/** Rows and checkpoint of the projections, which only ever change together. */
export class ProjectionDatabase {
  constructor(private readonly source: DataSource) {}

  /**
   * Where to go on. A void checkpoint empties the projection's tables and begins at the start; so does one beyond the end of
   * the log, whose events were lost.
   *
   * @param headOf of the store, asked once the checkpoint cannot move any more
   * @throws {RowsOfNewerVersion} nothing was changed: an older process that took over would undo what the newer one made
   */
  async resume(identity: ProjectionIdentity, headOf: () => Promise<Position>): Promise<ResumePoint> {
    return this.source.transaction(async (manager) => {
      const { name, version, storeId, rowTypes } = identity;
      const checkpoint = await lockCheckpoint(manager, name);
      if (checkpoint.storeId === storeId && checkpoint.version > version) {
        throw new RowsOfNewerVersion(name, checkpoint.version);
      }
      const position = BigInt(checkpoint.position);
      const isBeyondLog = position > (await headOf());
      const rebuildReason = voidReason(checkpoint, identity) ?? (isBeyondLog ? 'beyond_log' : null);
      if (rebuildReason === null) return { position, rebuildReason };
      const rows = new RowTransaction(manager);
      for (const rowType of rowTypes) await rows.clear(rowType);
      await rows.upsert(ProjectionCheckpointRow, [{ name, version, storeId, position: START.toString() }]);
      return { position: START, rebuildReason };
    });
  }

  /**
   * Moves the checkpoint and writes rows: both or neither. The checkpoint goes first, so that of two writers the second
   * waits for the first and then writes nothing. Every batch passes here beside the calls that people wait for, so
   * statements that need no answer of each other travel together.
   *
   * @param write left out where the events change no row
   * @throws {CheckpointMoved} it was not at `from`
   */
  async advance(
    identity: ProjectionIdentity,
    from: Position,
    to: Position,
    write?: (rows: RowTransaction) => Promise<void>,
  ): Promise<void> {
    const runner = this.source.createQueryRunner();
    try {
      const client = (await runner.connect()) as pg.ClientBase;
      const move = moveStatement(client, identity, from, to);
      if (!write) return requireMoved(identity, await client.query(move));
      await inTransaction(client, move, async (moved) => {
        requireMoved(identity, moved);
        await failpoint('proj.mid');
        await write(new RowTransaction(runner.manager));
      });
    } finally {
      await runner.release();
    }
  }

  /**
   * Puts new tables in the place of the projection's own, and the checkpoint to where they are. The projection that runs
   * meanwhile waits, and resumes from there.
   *
   * @param catchUp writes what the new tables lack up to the position it is given, and answers where they then are
   * @throws {OtherIdentity}
   * @throws {Error} SQLSTATE 55P03: a reader held the live tables too long; nothing was changed, and it may be tried again
   */
  async replace(
    identity: ProjectionIdentity,
    tables: ReplacementTables,
    catchUp: (rows: RowTransaction, upTo: Position) => Promise<Position>,
  ): Promise<void> {
    await this.source.transaction(async (manager) => {
      const { name, version, storeId } = identity;
      const checkpoint = await lockCheckpoint(manager, name);
      const isUnwritten = checkpoint.storeId === UNWRITTEN.storeId;
      if (!isUnwritten && voidReason(checkpoint, identity) !== null) throw new OtherIdentity(name);
      const position = await catchUp(tables.rowsIn(manager), BigInt(checkpoint.position));
      await manager.query(`SET LOCAL lock_timeout = ${SWAP_LOCK_TIMEOUT_MS}`);
      await tables.takeOver(manager);
      await manager.save(ProjectionCheckpointRow, { name, version, storeId, position: position.toString() });
    });
  }

  /**
   * Compares the projection's rows with new tables, at the position where the rows are as it begins. The projection that
   * runs meanwhile goes on: what it writes is not seen here.
   *
   * @param catchUp writes what the new tables lack up to the position it is given, and nothing beyond it
   * @param onCompared told after every stretch of rows
   * @throws {OtherIdentity}
   */
  async compare(
    identity: ProjectionIdentity,
    tables: ReplacementTables,
    catchUp: (rows: RowTransaction, upTo: Position) => Promise<void>,
    onCompared: (compared: ComparedRows & { readonly ofRows: number }) => void,
  ): Promise<void> {
    await this.source.transaction('REPEATABLE READ', async (manager) => {
      await tables.holdLive(manager);
      await catchUp(tables.rowsIn(manager), await positionIn(manager, identity));
      const kept = identity.floor && { of: identity.floor, from: await floorIn(manager, identity) };
      for await (const compared of tables.compare(manager, kept ?? null)) onCompared(compared);
    });
  }

  /** Where the rows are; at {@link START} where no projection has ever run. @throws {OtherIdentity} */
  async positionOf(identity: ProjectionIdentity): Promise<Position> {
    return positionIn(this.source.manager, identity);
  }

  /** Below it no row is kept; 0 where all are. */
  floorOf(identity: ProjectionIdentity): Promise<bigint> {
    return floorIn(this.source.manager, identity);
  }

  /** @throws {OtherIdentity} now, rather than when the work is done */
  async requireSame(identity: ProjectionIdentity): Promise<void> {
    await this.positionOf(identity);
  }
}

const floorIn = async (manager: EntityManager, { floor, storeId }: ProjectionIdentity): Promise<bigint> =>
  floor ? floor.of(manager, storeId) : 0n;

/** What a checkpoint says before its projection has ever run. */
const UNWRITTEN = { storeId: '', version: 0, position: START.toString() };

/** Every writer takes the checkpoint before it touches a table: so none waits for another in a circle. */
const lockCheckpoint = async (manager: EntityManager, name: ProjectionName): Promise<ProjectionCheckpointRow> => {
  await manager
    .createQueryBuilder()
    .insert()
    .into(ProjectionCheckpointRow)
    .values({ name, ...UNWRITTEN })
    .orIgnore()
    .execute();
  return manager.findOneOrFail(ProjectionCheckpointRow, { where: { name }, lock: { mode: 'pessimistic_write' } });
};

const positionIn = async (manager: EntityManager, identity: ProjectionIdentity): Promise<Position> => {
  const checkpoint = await manager.findOneBy(ProjectionCheckpointRow, { name: identity.name });
  if (checkpoint === null || checkpoint.storeId === UNWRITTEN.storeId) return START;
  if (voidReason(checkpoint, identity) !== null) throw new OtherIdentity(identity.name);
  return BigInt(checkpoint.position);
};

const voidReason = (
  checkpoint: ProjectionCheckpointRow,
  { storeId, version }: ProjectionIdentity,
): ResumePoint['rebuildReason'] => {
  if (checkpoint.storeId === UNWRITTEN.storeId) return 'no_checkpoint';
  if (checkpoint.storeId !== storeId) return 'other_store';
  return checkpoint.version === version ? null : 'other_version';
};

/** Without parameters: only so may it travel with the statement that begins the transaction. */
const moveStatement = (
  client: pg.ClientBase,
  { name, version, storeId }: ProjectionIdentity,
  from: Position,
  to: Position,
): string =>
  `UPDATE read_models.projection_checkpoints SET position = ${to}
    WHERE name = ${client.escapeLiteral(name)} AND store_id = ${client.escapeLiteral(storeId)}
      AND version = ${version} AND position = ${from}`;

const requireMoved = ({ name }: ProjectionIdentity, moved: pg.QueryResult): void => {
  if (moved.rowCount !== 1) throw new CheckpointMoved(name);
};

/** @param first sent with the beginning; its result goes to `work` */
const inTransaction = async (
  client: pg.ClientBase,
  first: string,
  work: (result: pg.QueryResult) => Promise<void>,
): Promise<void> => {
  try {
    const [, result] = (await client.query(`BEGIN; ${first}`)) as unknown as [pg.QueryResult, pg.QueryResult];
    await work(result);
    await client.query('COMMIT');
  } catch (error) {
    // A connection that cannot even do this is gone, and the transaction with it.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
};
