import type { Position } from '#libs/domain/kernel';
import type { ProjectionName } from './projection-checkpoint.row.js';

/** A projection that runs in this process. */
export interface LocalProjection {
  /** Up to here, inclusive, its rows are committed. */
  readonly position: Position;
  /** Ends its linger: somebody waits. */
  hurry(): void;
  /** Settles when the position is reached, or the projection ends here; false when it is not reached in time. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
}

/**
 * The projections this process runs at the moment, so that a list in the same process is told of its rows at once. Empty
 * where apps/api runs alone.
 */
export class LocalProjections {
  private readonly running = new Map<ProjectionName, LocalProjection>();

  announce(name: ProjectionName, projection: LocalProjection): void {
    this.running.set(name, projection);
  }

  withdraw(name: ProjectionName): void {
    this.running.delete(name);
  }

  find(name: ProjectionName): LocalProjection | null {
    return this.running.get(name) ?? null;
  }
}
