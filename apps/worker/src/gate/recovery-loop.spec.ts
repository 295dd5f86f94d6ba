import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type pg from 'pg';
import { NO_METER } from '#libs/domain/kernel';
import { PostgresLiveness } from '#libs/infra/gate';
import { createRelaxedPool } from '#libs/infra/postgres';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { deferred } from '../../../../test/support/deferred.js';
import { RecoveryLoop } from './recovery-loop.js';

const EXECUTOR = 'exe_test';
const INTERVAL_MS = 5;

/** Records the order in which rows are written and removed. Every beat but the first waits for `letThrough`. */
class ObservedLiveness extends PostgresLiveness {
  readonly steps: string[] = [];
  readonly secondBeat = deferred();
  readonly letThrough = deferred();
  private beats = 0;

  override async beat(executor: string): Promise<void> {
    this.beats += 1;
    if (this.beats > 1) {
      this.secondBeat.resolve();
      await this.letThrough.promise;
    }
    await super.beat(executor);
    this.steps.push('beat written');
  }

  override async remove(executor: string): Promise<void> {
    this.steps.push('removal asked for');
    await super.remove(executor);
  }
}

describe('recovery loop', () => {
  let database: TestDatabase;
  let pool: pg.Pool;

  beforeAll(async () => {
    database = await createWholeDatabase();
    pool = createRelaxedPool({
      connectionString: database.connectionString,
      applicationName: 'recovery loop',
      maxConnections: 4,
      onError: () => undefined,
    });
  });
  beforeEach(() => pool.query('truncate gate.liveness'));
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const idleSweeper = {
    observe: () => Promise.resolve(false),
    sweep: () => Promise.resolve({ open: 0, recovered: 0 }),
  };
  const settings = { livenessIntervalMs: INTERVAL_MS, sweepIntervalMs: INTERVAL_MS };
  const executors = async () => [...(await new PostgresLiveness(pool).read()).keys()];

  it('has beaten before its start is over', async () => {
    const loop = new RecoveryLoop(EXECUTOR, new PostgresLiveness(pool), idleSweeper, settings, {
      logger: collectingLogger(),
      meter: NO_METER,
    });
    await loop.start();
    expect(await executors()).toEqual([EXECUTOR]);
    await loop.stop();
  });

  it('waits at its stop for the beats under way, and leaves no row', async () => {
    const liveness = new ObservedLiveness(pool);
    const loop = new RecoveryLoop(EXECUTOR, liveness, idleSweeper, settings, {
      logger: collectingLogger(),
      meter: NO_METER,
    });
    await loop.start();
    await liveness.secondBeat.promise;
    const stopped = loop.stop();
    // A removal that does not wait for the beats would have been requested by now.
    await pool.query('select 1');
    liveness.letThrough.resolve();
    await stopped;
    expect(liveness.steps.indexOf('removal asked for')).toBe(liveness.steps.length - 1);
    expect(liveness.steps.length).toBeGreaterThan(2);
    expect(await executors()).toEqual([]);
  });

  it('after stopSweeping, ends the sweep under way, starts no other and continues to beat', async () => {
    const liveness = new ObservedLiveness(pool);
    const signals: (AbortSignal | undefined)[] = [];
    const sweep = (signal?: AbortSignal) => {
      signals.push(signal);
      return Promise.resolve({ open: 0, recovered: 0 });
    };
    const loop = new RecoveryLoop(EXECUTOR, liveness, { ...idleSweeper, sweep }, settings, {
      logger: collectingLogger(),
      meter: NO_METER,
    });
    await loop.start();
    await liveness.secondBeat.promise;
    loop.stopSweeping();
    const sweeps = signals.length;
    const beats = liveness.steps.length;
    liveness.letThrough.resolve();
    await vi.waitUntil(() => liveness.steps.length > beats + 5, { timeout: 20_000 });
    expect(signals).toHaveLength(sweeps);
    expect(signals.every((signal) => signal?.aborted)).toBe(true);
    await loop.stop();
  });

  it('sweeps at once if an executor has become silent, and once more if a sweep is under way', async () => {
    const [first, letThrough] = [deferred(), deferred()];
    let sweeps = 0;
    const sweep = async () => {
      sweeps += 1;
      if (sweeps === 1) first.resolve();
      if (sweeps === 1) await letThrough.promise;
      return { open: 0, recovered: 0 };
    };
    const fallen = [false, true, true, false];
    const observe = () => Promise.resolve(fallen.shift() ?? false);
    const seldom = { ...settings, sweepIntervalMs: 60_000 };
    const liveness = new PostgresLiveness(pool);
    const loop = new RecoveryLoop(EXECUTOR, liveness, { observe, sweep }, seldom, {
      logger: collectingLogger(),
      meter: NO_METER,
    });
    await loop.start();
    await first.promise;
    await vi.waitUntil(() => fallen.length === 0, { timeout: 20_000 });
    expect(sweeps).toBe(1);
    letThrough.resolve();
    await vi.waitUntil(() => sweeps === 2, { timeout: 20_000 });
    fallen.push(true);
    await vi.waitUntil(() => sweeps === 3, { timeout: 20_000 });
    await loop.stop();
    expect(sweeps).toBe(3);
  });

  it('waits at its stop for the sweep under way', async () => {
    const released = deferred();
    const liveness = new ObservedLiveness(pool);
    liveness.letThrough.resolve();
    const sweep = async () => {
      await released.promise;
      liveness.steps.push('swept');
      return { open: 0, recovered: 0 };
    };
    const loop = new RecoveryLoop(EXECUTOR, liveness, { ...idleSweeper, sweep }, settings, {
      logger: collectingLogger(),
      meter: NO_METER,
    });
    await loop.start();
    const stopped = loop.stop();
    await pool.query('select 1');
    released.resolve();
    await stopped;
    expect(liveness.steps.filter((step) => step !== 'beat written')).toEqual(['swept', 'removal asked for']);
  });

  it('skips a sweep that would overtake the one before, and counts it as skipped', async () => {
    const released = deferred();
    const ended: string[] = [];
    const sweep = async () => {
      await released.promise;
      return { open: 0, recovered: 0 };
    };
    const liveness = new ObservedLiveness(pool);
    liveness.letThrough.resolve();
    const loop = new RecoveryLoop(EXECUTOR, liveness, { ...idleSweeper, sweep }, settings, {
      logger: collectingLogger(),
      meter: { ...NO_METER, sweepEnded: (sweeper, result) => void ended.push(`${sweeper} ${result}`) },
    });
    await loop.start();
    await vi.waitUntil(() => ended.length > 2, { timeout: 20_000 });
    expect(new Set(ended)).toEqual(new Set(['crash_recovery skipped']));
    released.resolve();
    await vi.waitUntil(() => ended.includes('crash_recovery done'), { timeout: 20_000 });
    await loop.stop();
  });

  it('goes on after a beat and sweeps that failed, and says so once', async () => {
    const logger = collectingLogger();
    const recovered = deferred();
    let sweeps = 0;
    const sweeper = {
      observe: () => Promise.reject(new Error('no reading')),
      sweep: () => {
        sweeps += 1;
        if (sweeps < 3) return Promise.reject(new Error('no sweep'));
        if (logger.errors.some((error) => String(error).includes('no reading'))) recovered.resolve();
        return Promise.resolve({ open: 0, recovered: 0 });
      },
    };
    const loop = new RecoveryLoop(EXECUTOR, new PostgresLiveness(pool), sweeper, settings, { logger, meter: NO_METER });
    await loop.start();
    await recovered.promise;
    await loop.stop();
    expect(logger.errors.filter((error) => String(error).includes('no sweep'))).toHaveLength(1);
  });
});
