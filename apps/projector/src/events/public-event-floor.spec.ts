import { MemoryEventStore } from '#libs/infra/event-store';
import { LocalProjections, PublicEventPruning, PublicEventRow } from '#libs/infra/read-models';
import { neededByWebhooks } from '#libs/infra/webhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { followLog } from '../../../../test/support/follow-log.js';
import { GivenLog, started, testId } from '../../../../test/support/given-log.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { ProjectionRunner } from '../projection-runner.js';
import { ProjectionRebuild } from '../rebuild/projection-rebuild.js';
import { ProjectionVerification } from '../rebuild/projection-verification.js';
import { PublicEventKeeper } from './public-event-keeper.js';
import { publicEventsProjection } from './public-events.projection.js';

const DAY_S = 86_400;
/** As test times count: noon on 1 October 2026. */
const EPOCH_MS = Date.UTC(2026, 9, 1, 12);

describe('the floor of the public events', () => {
  let readModels: TestReadModels;
  let log: GivenLog;
  let storeId: string;

  beforeAll(async () => {
    readModels = await createTestReadModels();
  });
  afterAll(() => readModels.drop());
  beforeEach(async () => {
    log = new GivenLog(new MemoryEventStore());
    storeId = await log.store.storeId();
    await readModels.forgetCheckpoints('public_events');
    // Two public events each of day 1, day 3 and day 8, behind the event that names the store.
    for (const day of [1, 3, 8]) await log.append(`action-${testId('act', day * DAY_S)}`, ...started(day * DAY_S));
    await followLog(publicEventsProjection, log.store, readModels.projections);
  });

  const pruning = (day: number) =>
    new PublicEventPruning(readModels.source, { nowMs: () => EPOCH_MS + day * DAY_S * 1_000 });
  const seqs = async (): Promise<readonly number[]> => {
    const rows = await readModels.source.manager.find(PublicEventRow, { order: { seq: 'ASC' } });
    return rows.map(({ seq }) => Number(seq));
  };
  const parts = () => ({ store: log.store, source: readModels.source });
  const unheard = (): void => undefined;
  const verify = () => new ProjectionVerification(publicEventsProjection, parts(), unheard, unheard).run();
  const rebuild = () => new ProjectionRebuild(publicEventsProjection, parts(), unheard).run();

  it('lets go what is more than seven days old, and nothing younger', async () => {
    expect(await seqs()).toEqual([1, 2, 5, 6, 9, 10]);
    expect(await pruning(8).prune(storeId)).toBe(0);
    expect(await pruning(8.1).prune(storeId)).toBe(2);
    expect(await seqs()).toEqual([5, 6, 9, 10]);
    expect(await pruning(8.1).prune(storeId)).toBe(0);
    expect(await pruning(30).prune(storeId)).toBe(4);
    expect(await seqs()).toEqual([]);
    expect(await pruning(31).prune(storeId)).toBe(0);
  });

  it('keeps what no webhook delivery was made of yet, and lets it go once it is folded', async () => {
    const { manager } = readModels.source;
    const folded = (seq: number, store = storeId) =>
      manager.query(
        `insert into webhooks.checkpoint (name, store_id, seq) values ('deliveries', $1, $2)
         on conflict (name) do update set store_id = excluded.store_id, seq = excluded.seq`,
        [store, seq],
      );
    const clock = { nowMs: () => EPOCH_MS + 30 * DAY_S * 1_000 };
    const bounded = new PublicEventPruning(readModels.source, clock, neededByWebhooks(readModels.source));
    await folded(-1);
    expect(await bounded.prune(storeId)).toBe(0);
    await folded(2);
    expect(await bounded.prune(storeId)).toBe(2);
    expect(await seqs()).toEqual([5, 6, 9, 10]);
    // What another store's log was folded up to says nothing of this one.
    await folded(1, 'another store');
    expect(await bounded.prune(storeId)).toBe(4);
    await manager.query('delete from webhooks.checkpoint');
  });

  it('never goes down, whatever the clock says', async () => {
    await pruning(12).prune(storeId);
    expect(await pruning(1).prune(storeId)).toBe(0);
    await rebuild();
    expect(await seqs()).toEqual([9, 10]);
  });

  it('is obeyed by a rebuild and by a verification', async () => {
    await pruning(12).prune(storeId);
    // Both events that are left, and a brief of each action.
    expect(await verify()).toMatchObject({ rows: 5, differenceCount: 0 });
    await rebuild();
    expect(await seqs()).toEqual([9, 10]);
    expect(await verify()).toMatchObject({ rows: 5, differenceCount: 0 });
  });

  it('is obeyed by a projection that begins anew, whose rows ring the bell', async () => {
    await pruning(12).prune(storeId);
    await readModels.source.query(
      `UPDATE read_models.projection_checkpoints SET version = 0 WHERE name = 'public_events'`,
    );
    const publish = vi.fn();
    const ports = { store: log.store, database: readModels.projections, bus: { publish }, log: silentLogger };
    const runner = new ProjectionRunner(publicEventsProjection, { ...ports, local: new LocalProjections() });
    const stopping = new AbortController();
    const running = runner.run(stopping.signal);
    await vi.waitFor(() => expect(publish).toHaveBeenCalledWith('public_events', ''), { timeout: 20_000 });
    stopping.abort();
    await running;
    expect(await seqs()).toEqual([9, 10]);
  });

  it('hides nothing that is above it from a verification', async () => {
    await pruning(12).prune(storeId);
    await readModels.source.query('DELETE FROM read_models.public_events WHERE seq = 9');
    await readModels.source.query(`UPDATE read_models.public_events SET type = 'org.stopped' WHERE seq = 10`);
    expect(await verify()).toMatchObject({
      differences: [
        { table: 'public_events', key: ['9'], kind: 'missing' },
        { table: 'public_events', key: ['10'], kind: 'changed', columns: ['type'] },
      ],
    });
  });

  it('is of its store alone', async () => {
    await pruning(12).prune('another store');
    await rebuild();
    expect(await seqs()).toEqual([1, 2, 5, 6, 9, 10]);
  });

  it('is set before anything goes: whoever stops between leaves rows that nobody misses', async () => {
    const halfway = pruning(12);
    const steps = halfway as unknown as { removeSome: () => Promise<number> };
    vi.spyOn(steps, 'removeSome').mockRejectedValueOnce(new Error('killed'));
    await expect(halfway.prune(storeId)).rejects.toThrow('killed');
    expect(await seqs()).toEqual([1, 2, 5, 6, 9, 10]);
    expect(await verify()).toMatchObject({ rows: 5, differenceCount: 0 });
    expect(await pruning(12).prune(storeId)).toBe(4);
  });

  it('is raised by rounds that go on after one that failed', async () => {
    const prune = vi.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue(0);
    const keeper = new PublicEventKeeper(log.store, { prune } as unknown as PublicEventPruning, silentLogger, 1);
    const stopping = new AbortController();
    const running = keeper.run(stopping.signal);
    await vi.waitFor(() => expect(prune.mock.calls.length).toBeGreaterThan(2), { timeout: 20_000 });
    stopping.abort();
    await running;
    expect(prune).toHaveBeenCalledWith(storeId);
  });
});
