import { setTimeout as delay } from 'node:timers/promises';
import { START, type Clock, type EventStore, type Position } from '#libs/domain/kernel';
import type { DataSource } from 'typeorm';
import type { LocalProjections } from './local-projections.js';
import { ProjectionCheckpointRow, type ProjectionName } from './projection-checkpoint.row.js';
import { translateRowError } from './row-errors.js';

const POLL_INTERVAL_MS = 20;

/** How far the projections are, asked by those who read their rows. */
export abstract class ProjectionProgress {
  /**
   * Waits until the projection's rows tell of everything up to `position`, at most `timeoutMs`.
   * @returns how far it is: `position` or beyond, or less when the time was over
   * @throws {StoreUnavailable} the database did not answer
   */
  abstract reach(name: ProjectionName, position: Position, timeoutMs: number): Promise<Position>;
}

/** Looks at the checkpoint every 20 ms: the projection runs in another process. */
export class PolledProjectionProgress extends ProjectionProgress {
  constructor(
    private readonly source: DataSource,
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {
    super();
  }

  async reach(name: ProjectionName, position: Position, timeoutMs: number): Promise<Position> {
    const endsAtMs = this.clock.monotonicMs() + timeoutMs;
    const storeId = await this.store.storeId();
    for (;;) {
      const checkpoint = await this.checkpointOf(name, storeId);
      const reached = checkpoint ? BigInt(checkpoint.position) : START;
      const leftMs = endsAtMs - this.clock.monotonicMs();
      if (reached >= position || leftMs <= 0) return reached;
      await delay(Math.min(POLL_INTERVAL_MS, leftMs));
    }
  }

  private async checkpointOf(name: ProjectionName, storeId: string): Promise<ProjectionCheckpointRow | null> {
    try {
      return await this.source.manager.findOneBy(ProjectionCheckpointRow, { name, storeId });
    } catch (error) {
      throw translateRowError(error);
    }
  }
}

/** Wakes the projection where it runs in this process, and is told by it; asks `elsewhere` when it does not. */
export class LocalProjectionProgress extends ProjectionProgress {
  constructor(
    private readonly local: LocalProjections,
    private readonly elsewhere: ProjectionProgress,
    private readonly clock: Clock,
  ) {
    super();
  }

  async reach(name: ProjectionName, position: Position, timeoutMs: number): Promise<Position> {
    const endsAtMs = this.clock.monotonicMs() + timeoutMs;
    const projection = this.local.find(name);
    if (projection) {
      if (projection.position >= position) return projection.position;
      projection.hurry();
      if (await projection.waitFor(position, timeoutMs)) return projection.position;
    }
    return this.elsewhere.reach(name, position, Math.max(0, endsAtMs - this.clock.monotonicMs()));
  }
}
