import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Position, START } from '#libs/domain/kernel';
import { createReadOnlyPool } from '#libs/infra/postgres';
import { firstOf, newStream } from '../../../../test/support/new-event.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { MemoryEventStore } from '../event-store/index.js';
import { PROJECTION_NAMES, type ProjectionName } from '../read-models/index.js';
import { inspectProjections, PROJECTION_LAG_LIMIT, type ProjectionLag } from './projection-lag.js';

let readModels: TestReadModels;
let pool: pg.Pool;
let store: MemoryEventStore;

beforeAll(async () => {
  readModels = await createTestReadModels();
  pool = createReadOnlyPool({
    connectionString: readModels.connectionString,
    applicationName: 'projection lag spec',
    maxConnections: 1,
    onError: () => undefined,
  });
});
afterAll(async () => {
  await pool?.end();
  await readModels?.drop();
});
beforeEach(async () => {
  await readModels.forgetCheckpoints(...PROJECTION_NAMES);
  store = new MemoryEventStore();
});

/** Its checkpoint, where a projection has been. */
const reach = async (position: Position, names: readonly ProjectionName[], storeId?: string): Promise<void> => {
  for (const name of names) {
    const identity = { name, version: 1, storeId: storeId ?? (await store.storeId()), rowTypes: [] };
    const { position: from } = await readModels.projections.resume(identity, async () => 1_000_000n);
    await readModels.projections.advance(identity, from, position);
  }
};

const append = (count: number) => store.append(firstOf(newStream(), count));
const inspect = (oldUpTo = 1_000_000n): Promise<ProjectionLag | null> =>
  inspectProjections(pool, store, ({ position }) => position <= oldUpTo);

describe('how far projections are behind the log', () => {
  it('is nothing where they have reached it, or what they lack is young', async () => {
    await store.storeId();
    const { position } = await append(5);
    await reach(position, PROJECTION_NAMES);
    expect(await inspect()).toBeNull();
    await append(1);
    expect(await inspect(position)).toBeNull();
  });

  it('is told of those that are late, from what the last of them lacks', async () => {
    await store.storeId();
    const { position } = await append(10);
    await reach(position, ['policies', 'agents', 'security_events', 'public_events', 'checkpoints']);
    await reach(position - 1n, ['connectors']);
    await reach(position - 2n, ['deeds']);
    await reach(position - 4n, ['actions']);
    expect(await inspect(position - 1n)).toMatchObject({
      late: ['actions', 'deeds'],
      oldest: { position: position - 3n },
      events: 4,
    });
  });

  it('is everything where they are beyond a log that went back in time', async () => {
    await store.storeId();
    const { position } = await append(5);
    await reach(position + 100_000n, PROJECTION_NAMES);
    expect(await inspect()).toMatchObject({ late: PROJECTION_NAMES, events: 6 });
  });

  it('is everything where none has begun, or they were of another store', async () => {
    await store.storeId();
    await append(2);
    const all = { late: PROJECTION_NAMES, oldest: { position: START + 1n }, events: 3 };
    expect(await inspect()).toMatchObject(all);
    await reach(2n, PROJECTION_NAMES, 'another store');
    expect(await inspect()).toMatchObject(all);
  });

  it('is counted up to a limit', async () => {
    await store.storeId();
    for (let count = 0; count < 3; count += 1) await append(500);
    expect(await inspect()).toMatchObject({ events: PROJECTION_LAG_LIMIT });
  });
});
