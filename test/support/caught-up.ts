import type { Position } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { type ProjectionName, ProjectionProgress, ProjectionWaiter } from '#libs/infra/read-models';

/** Projections that have everything: for lists over rows that a test wrote itself. Remembers who was waited for. */
export class CaughtUpProgress extends ProjectionProgress {
  readonly waitedFor: ProjectionName[] = [];

  reach(name: ProjectionName, position: Position): Promise<Position> {
    this.waitedFor.push(name);
    return Promise.resolve(position);
  }
}

export const caughtUp = (progress = new CaughtUpProgress()): ProjectionWaiter =>
  new ProjectionWaiter(new MemoryEventStore(), progress);
