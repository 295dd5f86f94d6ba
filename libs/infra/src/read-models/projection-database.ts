import type { Position } from '#libs/domain/kernel';
import { START } from '#libs/domain/kernel';
import type { DataSource, EntityManager } from 'typeorm';
import { ProjectionCheckpointRow, type ProjectionName } from './projection-checkpoint.row.js';
import { RowTransaction, type RowType } from './row-transaction.js';

/** Which rows a checkpoint speaks of: those of one fold over one store. Anything else makes it void. */
export interface ProjectionIdentity {
  readonly name: ProjectionName;
  readonly version: number;
  readonly storeId: string;
  /** Every table the projection writes, and no other projection. */
  readonly rowTypes: readonly RowType<object>[];
}

export interface ResumePoint {
  readonly position: Position;
  /** Why the rows were thrown away and the log is folded anew; null when the checkpoint holds. */
  readonly rebuildReason: 'no_checkpoint' | 'other_store' | 'other_version' | null;
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

/** Rows and checkpoint of the projections, which only ever change together. */
export class ProjectionDatabase {
  constructor(private readonly source: DataSource) {}

  /** Where to go on. A void checkpoint empties the projection's tables and begins at the start. */
  async resume(identity: ProjectionIdentity): Promise<ResumePoint> {
    return this.source.transaction(async (manager) => {
      const { name, version, storeId, rowTypes } = identity;
      const checkpoint = await lockCheckpoint(manager, name);
      const rebuildReason = voidReason(checkpoint, identity);
      if (rebuildReason === null) return { position: BigInt(checkpoint.position), rebuildReason };
      const rows = new RowTransaction(manager);
      for (const rowType of rowTypes) await rows.clear(rowType);
      await rows.upsert(ProjectionCheckpointRow, [{ name, version, storeId, position: START.toString() }]);
      return { position: START, rebuildReason };
    });
  }

  /**
   * Moves the checkpoint and writes rows: both or neither. The checkpoint goes first, so that of two writers the second
   * waits for the first and then writes nothing.
   *
   * @throws {CheckpointMoved} it was not at `from`
   */
  async advance(
    identity: ProjectionIdentity,
    from: Position,
    to: Position,
    write: (rows: RowTransaction) => Promise<void>,
  ): Promise<void> {
    await this.source.transaction(async (manager) => {
      await moveCheckpoint(manager, identity, from, to);
      await write(new RowTransaction(manager));
    });
  }

  /** Makes the projection fold the whole log anew, wherever it runs, within the pause before its next attempt. */
  async requestRebuild(name: ProjectionName): Promise<void> {
    await this.source.manager.delete(ProjectionCheckpointRow, { name });
  }
}

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

const voidReason = (
  checkpoint: ProjectionCheckpointRow,
  { storeId, version }: ProjectionIdentity,
): ResumePoint['rebuildReason'] => {
  if (checkpoint.storeId === UNWRITTEN.storeId) return 'no_checkpoint';
  if (checkpoint.storeId !== storeId) return 'other_store';
  return checkpoint.version === version ? null : 'other_version';
};

const moveCheckpoint = async (
  manager: EntityManager,
  { name, version, storeId }: ProjectionIdentity,
  from: Position,
  to: Position,
): Promise<void> => {
  const [, moved] = await manager.query<[unknown[], number]>(
    `UPDATE read_models.projection_checkpoints SET position = $5
      WHERE name = $1 AND version = $2 AND store_id = $3 AND position = $4`,
    [name, version, storeId, from.toString(), to.toString()],
  );
  if (moved !== 1) throw new CheckpointMoved(name);
};
