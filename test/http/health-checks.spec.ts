import { beforeEach, describe, expect, it, vi } from 'vitest';
import { appendEvents, START, timestampOf } from '#libs/domain/kernel';
import { LedgerTails, UnsealedEvents } from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import {
  diskCheck,
  projectionsCheck,
  type ProjectionSource,
  sealingCheck,
  type SealingSource,
} from '../../apps/api/src/health/health-check.js';
import { metadataAt } from '../support/given.js';
import { HeldProgress, LedgerBench, newOrg, SetClock } from '../support/ledger-fixtures.js';
import { newEvent } from '../support/new-event.js';
import { TestClock } from './edge-harness.js';

/** A log that grows at the times of a clock that stands still. */
class GrowingLog {
  readonly clock = new TestClock();
  readonly store = new MemoryEventStore();
  /** What was read of it, by the number of events asked for. */
  readonly reads: number[] = [];
  private revision = -1;

  constructor() {
    this.clock.stop();
    const readAll = this.store.readAll.bind(this.store);
    vi.spyOn(this.store, 'readAll').mockImplementation(async (after, limit) => {
      this.reads.push(limit);
      return readAll(after, limit);
    });
  }

  /** @param head where it ends after that long */
  async grow(byMs: number, head: bigint): Promise<void> {
    this.clock.advance(byMs);
    const metadata = { ...metadataAt(timestampOf(this.clock.nowMs())), org: null };
    while ((await this.store.head()) < head) {
      const expected = this.revision < 0 ? 'no_stream' : this.revision;
      await appendEvents(this.store, 'user-one', expected, [{ type: 'PersonCreated', data: {} }], metadata);
      this.revision += 1;
    }
  }
}

describe('the projections check', () => {
  let log: GrowingLog;
  let reached: bigint;
  beforeEach(() => {
    log = new GrowingLog();
  });
  const checkOf = ({ store, clock: time }: GrowingLog, source: Partial<ProjectionSource> = {}) =>
    projectionsCheck({ store, projected: async () => reached, patienceMs: 2_000, clock: time, ...source });

  it('is degraded only when what was there two seconds ago has not been reached', async () => {
    const projections = checkOf(log);
    const next = async (byMs: number, to: { head: bigint; reached: bigint }) => {
      await log.grow(byMs, to.head);
      ({ reached } = to);
      return projections.check();
    };
    expect(await next(0, { head: 5n, reached: 5n })).toBe('ok');
    expect(await next(1_000, { head: 100n, reached: 5n })).toBe('ok');
    // Always something on the way, but never for long.
    expect(await next(2_500, { head: 200n, reached: 150n })).toBe('ok');
    expect(await next(2_500, { head: 300n, reached: 250n })).toBe('ok');
    expect(await next(2_500, { head: 300n, reached: 299n })).toBe('degraded');
    expect(await next(100, { head: 300n, reached: 300n })).toBe('ok');
  });

  it('is ok where a command waited before it was recorded, and projections that are well have yet to hear of it', async () => {
    await log.grow(0, 5n);
    await log.grow(3_000, 6n);
    const asked: unknown[] = [];
    const projections = checkOf(log, {
      projected: async (position, timeoutMs) => {
        asked.push([position, timeoutMs > 0]);
        return timeoutMs > 0 ? 6n : 5n;
      },
    });
    log.clock.advance(2_000);
    expect(await projections.check()).toBe('ok');
    expect(asked).toEqual([
      [START, false],
      [6n, true],
    ]);
  });

  it('waits for none that it has itself seen behind for so long', async () => {
    const waitedMs: number[] = [];
    const projections = checkOf(log, {
      projected: async (_, timeoutMs) => {
        waitedMs.push(timeoutMs);
        return 5n;
      },
    });
    await log.grow(0, 6n);
    expect(await projections.check()).toBe('ok');
    log.clock.advance(2_000);
    expect(await projections.check()).toBe('degraded');
    expect(waitedMs).toEqual([0, 0]);
  });

  it('is degraded where they have reached what the log does not hold', async () => {
    await log.grow(0, 5n);
    reached = 6n;
    expect(await checkOf(log).check()).toBe('degraded');
    reached = 5n;
    expect(await checkOf(log).check()).toBe('ok');
  });

  it('says so at its first answer, and reads one event for it, once', async () => {
    await log.grow(0, 5n);
    await log.grow(2_000, 9n);
    reached = 5n;
    expect(await checkOf(log).check()).toBe('ok');
    reached = 4n;
    const projections = checkOf(log);
    log.reads.length = 0;
    expect([await projections.check(), await projections.check()]).toEqual(['degraded', 'degraded']);
    expect(log.reads).toEqual([1]);
  });

  it('is ok of a log in which nothing happens, and of an empty one, without a read', async () => {
    reached = START;
    expect(await checkOf(log).check()).toBe('ok');
    await log.grow(0, 5n);
    reached = 5n;
    await log.grow(3_600_000, 5n);
    expect(await checkOf(log).check()).toBe('ok');
    expect(log.reads).toEqual([]);
  });
});

describe('the disk check', () => {
  it.each([500, 10_000])('is ok with %i MiB', async (mebibytes) => {
    expect(await diskCheck('/s', async () => mebibytes * 1024 ** 2).check()).toBe('ok');
  });

  it('is degraded below 500 MiB, and says in the log how much there is and what to do', async () => {
    const disk = diskCheck('/s', async () => 500 * 1024 ** 2 - 1);
    expect(disk.isVital).toBeUndefined();
    await expect(disk.check()).rejects.toThrow('only 499 MiB are free in the file system of /s: free some');
  });
});

describe('the sealing check', () => {
  const LIMIT_MS = 10_000;
  let bench: LedgerBench;
  let progress: HeldProgress;
  beforeEach(async () => {
    bench = new LedgerBench(new MemoryEventStore(new SetClock()));
    await bench.activateKey();
    progress = new HeldProgress();
  });
  const unsealed = () => new UnsealedEvents(bench.store, progress, new LedgerTails(bench.store));
  const checkWith = (source: Partial<SealingSource> = {}) =>
    sealingCheck({
      hasActiveKey: async () => true,
      parked: async () => [],
      head: () => bench.store.head(),
      unsealed: unsealed(),
      patienceMs: LIMIT_MS,
      clock: bench.clock,
      ...source,
    });

  it('is degraded where nobody seals what has been waiting for a while', async () => {
    const sealing = checkWith();
    expect(await sealing.check()).toBe('ok');
    await bench.recordAction(newOrg());
    expect(await sealing.check()).toBe('ok');
    bench.clock.ms += LIMIT_MS - 1;
    expect(await sealing.check()).toBe('ok');
    bench.clock.ms += 1;
    expect(await sealing.check()).toBe('degraded');
    await bench.feed(bench.sealer(), await bench.log());
    expect(await sealing.check()).toBe('ok');
  });

  it('says so at its first answer', async () => {
    await bench.recordAction(newOrg(), 'executed');
    bench.clock.ms += LIMIT_MS - 1;
    expect(await checkWith().check()).toBe('ok');
    bench.clock.ms += 1;
    expect(await checkWith().check()).toBe('degraded');
  });

  it('goes by when it saw the log grow, where clocks differ', async () => {
    const sealing = checkWith();
    await sealing.check();
    // Of one whose clock is behind, and of one whose clock is ahead.
    bench.clock.ms += 60_000;
    await sealing.check();
    await bench.recordAction(newOrg());
    expect([await sealing.check(), await checkWith().check()]).toEqual(['ok', 'degraded']);
    bench.clock.ms -= 120_000;
    const ahead = checkWith();
    expect(await ahead.check()).toBe('ok');
    bench.clock.ms += LIMIT_MS;
    expect(await ahead.check()).toBe('degraded');
  });

  it('is degraded where nobody is sealed past an event that does not say whose it is', async () => {
    const foreign = {
      stream: 'orders-1',
      expectedRevision: 'no_stream' as const,
      events: [newEvent({ metadata: '' })],
    };
    await bench.store.append(foreign);
    bench.clock.ms += LIMIT_MS;
    expect(await checkWith().check()).toBe('degraded');
  });

  it('is degraded where more waits to be looked at than there is time for, until it was', async () => {
    await bench.recordAction(newOrg());
    await bench.feed(bench.sealer(), await bench.log());
    bench.clock.ms += LIMIT_MS;
    const sealing = checkWith();
    // Each event takes a second.
    const monotonicMs = vi.spyOn(bench.clock, 'monotonicMs').mockImplementation(() => (bench.clock.ms += 1_000));
    expect(await sealing.check()).toBe('degraded');
    monotonicMs.mockRestore();
    expect(await sealing.check()).toBe('ok');
  });

  it.each([
    ['no seal key is active', { hasActiveKey: async () => false }],
    ['an organization is parked', { parked: async () => ['org'] }],
  ])('is degraded where %s', async (_, source) => {
    expect(await checkWith().check()).toBe('ok');
    expect(await checkWith(source).check()).toBe('degraded');
  });
});
