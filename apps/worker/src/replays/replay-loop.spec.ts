import { describe, expect, it, vi } from 'vitest';
import { NO_METER, type ReplayId } from '#libs/domain/kernel';
import type { ReplayChild, ReplayExit } from '#libs/infra/replays';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { testId } from '../../../../test/support/given-log.js';
import { ReplayLoop } from './replay-loop.js';

const QUICK = { intervalMs: 1, patienceMs: 1 };
const REPLAY = testId('rpl', 1);

/** Children of which a test says when they end, and rows of which it says what they hold. */
class Stage {
  readonly started: ReplayId[] = [];
  readonly jobs: (readonly [string, string])[] = [];
  readonly logger = collectingLogger();
  stopped = 0;
  unclaimed: () => Promise<ReplayId | null> = () => Promise.resolve(null);
  end: (exit: ReplayExit) => void = () => undefined;

  readonly loop = new ReplayLoop(
    {
      rows: { unclaimed: () => this.unclaimed() },
      start: (id) => this.child(id),
      logger: this.logger,
      meter: { ...NO_METER, jobEnded: (kind, result) => this.jobs.push([kind, result]) },
    },
    QUICK,
  );

  private child(id: ReplayId): ReplayChild {
    this.started.push(id);
    const ended = new Promise<ReplayExit>((resolve) => (this.end = resolve));
    const stop = (): void => {
      this.stopped += 1;
      this.end({ isDone: true });
    };
    return { pid: 1, ended, stop };
  }
}

describe('replays that nobody runs', () => {
  it('are started one at a time', async () => {
    const stage = new Stage();
    let looks = 0;
    stage.unclaimed = () => Promise.resolve((looks += 1) <= 2 ? testId('rpl', looks) : null);
    stage.loop.start();
    await vi.waitFor(() => expect(stage.started).toEqual([testId('rpl', 1)]), { timeout: 20_000 });
    expect(looks).toBe(1);
    stage.end({ isDone: true });
    await vi.waitFor(() => expect(stage.started).toEqual([testId('rpl', 1), testId('rpl', 2)]), { timeout: 20_000 });
    stage.end({ isDone: true });
    await vi.waitFor(() => expect(looks).toBeGreaterThan(2), { timeout: 20_000 });
    await stage.loop.stop();
    expect(stage.jobs).toEqual([
      ['replay', 'done'],
      ['replay', 'done'],
    ]);
  });

  it('are started again after a child that came to a bad end, which is said', async () => {
    const stage = new Stage();
    stage.unclaimed = () => Promise.resolve(REPLAY);
    stage.loop.start();
    await vi.waitFor(() => expect(stage.started).toHaveLength(1), { timeout: 20_000 });
    stage.end({ isDone: false, said: 'out of memory' });
    await vi.waitFor(() => expect(stage.started).toHaveLength(2), { timeout: 20_000 });
    expect(stage.jobs).toEqual([['replay', 'error']]);
    expect(stage.logger.errors).toHaveLength(1);
    await stage.loop.stop();
  });

  it('are looked for again when the database is back', async () => {
    const stage = new Stage();
    let looks = 0;
    stage.unclaimed = () => ((looks += 1) === 1 ? Promise.reject(new Error('away')) : Promise.resolve(REPLAY));
    stage.loop.start();
    await vi.waitFor(() => expect(stage.started).toEqual([REPLAY]), { timeout: 20_000 });
    await stage.loop.stop();
  });

  it('are left to others by a process that ends, and its child with them', async () => {
    const stage = new Stage();
    stage.unclaimed = () => Promise.resolve(REPLAY);
    stage.loop.start();
    await vi.waitFor(() => expect(stage.started).toEqual([REPLAY]), { timeout: 20_000 });
    await stage.loop.stop();
    expect([stage.stopped, stage.started]).toEqual([1, [REPLAY]]);
  });
});
