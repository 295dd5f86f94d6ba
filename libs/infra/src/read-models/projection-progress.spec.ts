import { type Clock, type Position, START, StoreUnavailable } from '#libs/domain/kernel';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { MemoryEventStore } from '../event-store/index.js';
import { type LocalProjection, LocalProjections } from './local-projections.js';
import type { ProjectionIdentity } from './projection-database.js';
import { LocalProjectionProgress, PolledProjectionProgress, ProjectionProgress } from './projection-progress.js';

/** Moves only when it is asked: each look is 20 ms later than the one before. */
class SteppingClock implements Clock {
  private time = 0;
  nowMs = (): number => this.time;
  monotonicMs = (): number => (this.time += 20);
}

describe('progress of a projection in another process', () => {
  let readModels: TestReadModels;
  let store: MemoryEventStore;
  let identity: ProjectionIdentity;
  let progress: PolledProjectionProgress;

  beforeAll(async () => {
    readModels = await createTestReadModels();
  });
  afterAll(() => readModels.drop());
  beforeEach(async () => {
    store = new MemoryEventStore();
    identity = { name: 'actions', version: 1, storeId: await store.storeId(), rowTypes: [] };
    progress = new PolledProjectionProgress(readModels.source, store, new SteppingClock());
  });

  const advance = (from: Position, to: Position) => readModels.projections.advance(identity, from, to);

  it('answers at once when the checkpoint is there already', async () => {
    await readModels.projections.resume(identity, () => store.head());
    await advance(START, 7n);
    expect(await progress.reach('actions', 7n, 0)).toBe(7n);
    expect(await progress.reach('actions', 3n, 0)).toBe(7n);
  });

  it('answers when the checkpoint gets there', async () => {
    await readModels.projections.resume(identity, () => store.head());
    const reached = progress.reach('actions', 7n, 60_000);
    await advance(START, 5n);
    await advance(5n, 8n);
    expect(await reached).toBe(8n);
  });

  it('answers how far it is when the time is over', async () => {
    await readModels.projections.resume(identity, () => store.head());
    await advance(START, 5n);
    expect(await progress.reach('actions', 7n, 100)).toBe(5n);
  });

  it('is unavailable, and not a fault of ours, when the database ends under the question', async () => {
    const side = new pg.Client({ connectionString: readModels.connectionString });
    await side.connect();
    await side.query('begin; lock table read_models.projection_checkpoints in access exclusive mode');
    const reached = progress.reach('actions', 7n, 60_000);
    const failed = expect(reached).rejects.toBeInstanceOf(StoreUnavailable);
    await vi.waitFor(
      async () => {
        const ended = await side.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`);
        expect(ended.rowCount).toBe(1);
      },
      { timeout: 20_000 },
    );
    await failed;
    await side.end();
    await vi.waitFor(async () => expect(await progress.reach('actions', START, 0)).toBeGreaterThanOrEqual(START), {
      timeout: 20_000,
    });
  });

  it('takes a checkpoint of another store, or none, for the start', async () => {
    await readModels.forgetCheckpoints('actions');
    expect(await progress.reach('actions', 7n, 0)).toBe(START);
    const other = { ...identity, storeId: 'another store' };
    await readModels.projections.resume(other, () => store.head());
    await readModels.projections.advance(other, START, 9n);
    expect(await progress.reach('actions', 7n, 0)).toBe(START);
  });
});

class Elsewhere extends ProjectionProgress {
  readonly asked: number[] = [];
  reach(_name: string, _position: Position, timeoutMs: number): Promise<Position> {
    this.asked.push(timeoutMs);
    return Promise.resolve(99n);
  }
}

class FakeProjection implements LocalProjection {
  hurried = 0;
  constructor(
    public position: Position,
    private readonly becomes: Position,
  ) {}
  hurry(): void {
    this.hurried += 1;
  }
  waitFor(position: Position): Promise<boolean> {
    this.position = this.becomes;
    return Promise.resolve(this.position >= position);
  }
}

describe('progress of a projection in this process', () => {
  const reach = async (projection: LocalProjection | null) => {
    const local = new LocalProjections();
    if (projection) local.announce('deeds', projection);
    const elsewhere = new Elsewhere();
    const reached = await new LocalProjectionProgress(local, elsewhere, new SteppingClock()).reach('deeds', 5n, 1_000);
    return { reached, asked: elsewhere.asked };
  };

  it('is told by the projection, which it has hurried', async () => {
    const projection = new FakeProjection(3n, 6n);
    expect(await reach(projection)).toEqual({ reached: 6n, asked: [] });
    expect(projection.hurried).toBe(1);
  });

  it('disturbs no projection that is there already', async () => {
    const projection = new FakeProjection(5n, 5n);
    expect(await reach(projection)).toEqual({ reached: 5n, asked: [] });
    expect(projection.hurried).toBe(0);
  });

  it('looks at the checkpoint for the rest of the time when the projection has ended here', async () => {
    expect(await reach(new FakeProjection(3n, 4n))).toEqual({ reached: 99n, asked: [980] });
  });

  it('looks at the checkpoint when the projection runs elsewhere', async () => {
    expect(await reach(null)).toEqual({ reached: 99n, asked: [980] });
  });
});
