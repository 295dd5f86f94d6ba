import type { Position } from '#libs/domain/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import { GivenLog } from '../../../../test/support/given-log.js';
import { MemoryEventStore } from '../event-store/index.js';
import type { ProjectionName } from './projection-checkpoint.row.js';
import { ProjectionProgress } from './projection-progress.js';
import { LAG_COUNT_LIMIT, ProjectionWaiter } from './projection-waiter.js';

class StuckProgress extends ProjectionProgress {
  readonly asked: [ProjectionName, Position, number][] = [];
  constructor(private readonly positions: Partial<Record<ProjectionName, Position>>) {
    super();
  }
  reach(name: ProjectionName, position: Position, timeoutMs: number): Promise<Position> {
    this.asked.push([name, position, timeoutMs]);
    return Promise.resolve(this.positions[name] ?? position);
  }
}

describe('projection waiter', () => {
  let store: MemoryEventStore;

  beforeEach(() => {
    store = new MemoryEventStore();
  });

  const givenEvents = (count: number) =>
    new GivenLog(store).append(
      'user-usr_1',
      ...Array.from({ length: count }, (_, index) => ({ type: 'PersonRenamed', data: { index } })),
    );

  it('waits at most 2 s for the log as it stood when the list was asked for', async () => {
    await givenEvents(3);
    const progress = new StuckProgress({});
    expect(await new ProjectionWaiter(store, progress).catchUp(['actions', 'deeds'])).toEqual({ lagEvents: 0 });
    expect(progress.asked).toEqual([
      ['actions', 2n, 2_000],
      ['deeds', 2n, 2_000],
    ]);
  });

  it('does not count what came while it waited', async () => {
    await givenEvents(3);
    const progress = new StuckProgress({ actions: 5n });
    expect(await new ProjectionWaiter(store, progress).catchUp(['actions'])).toEqual({ lagEvents: 0 });
  });

  it('counts the events that the last of the projections does not tell yet', async () => {
    await givenEvents(250);
    const progress = new StuckProgress({ actions: 200n, deeds: 9n });
    expect(await new ProjectionWaiter(store, progress).catchUp(['actions', 'deeds'])).toEqual({ lagEvents: 240 });
  });

  it('counts no further than its limit', async () => {
    await givenEvents(LAG_COUNT_LIMIT + 500);
    const waiter = new ProjectionWaiter(store, new StuckProgress({ actions: -1n }));
    expect(await waiter.catchUp(['actions'])).toEqual({ lagEvents: LAG_COUNT_LIMIT });
  });

  it('has nothing to wait for in an empty log', async () => {
    expect(await new ProjectionWaiter(store, new StuckProgress({})).catchUp(['actions'])).toEqual({ lagEvents: 0 });
  });
});
