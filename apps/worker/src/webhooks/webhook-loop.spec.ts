import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Bus, PUBLIC_EVENTS_CHANNEL, START, type WebhookId, WEBHOOKS_CHANNEL } from '#libs/domain/kernel';
import type { LeaseSession } from '#libs/infra/leases';
import { InProcessBus, InProcessJobQueue } from '#libs/infra/runtime';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { testId } from '../../../../test/support/given-log.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { WebhookLoop, type WebhookLoopParts } from './webhook-loop.js';

const INTERVAL_MS = 5_000;
const BELLS = 20;
const ONE = testId('whk', 1);
const TWO = testId('whk', 2);
const SESSION = {} as LeaseSession;

type Folding = Awaited<ReturnType<WebhookLoopParts['fold']['fold']>>;

const beginning = { position: START, sinceMs: null };
const at = (position: bigint, webhooks: readonly WebhookId[] = [], hasMore = false): Folding => ({
  place: { position, sinceMs: null },
  webhooks,
  hasMore,
});

/** A loop of which the stores do as a test says. */
const loopWith = (changes: Partial<WebhookLoopParts> = {}) => {
  const rung: string[] = [];
  const logger = collectingLogger();
  const bus: Bus = new InProcessBus(silentLogger);
  const dispatcher = {
    ring: (webhook: WebhookId) => void rung.push(webhook),
    close: vi.fn(),
    idle: vi.fn(() => Promise.resolve()),
  };
  const parts: WebhookLoopParts = {
    fold: { resume: () => Promise.resolve(beginning), fold: () => Promise.resolve(at(START)) },
    dispatcher,
    deliveries: { dueEndpoints: () => Promise.resolve([]) },
    lost: { end: () => Promise.resolve([]) },
    queue: new InProcessJobQueue(silentLogger),
    bus,
    clock: { nowMs: () => 0 },
    logger,
    ...changes,
  };
  return { loop: new WebhookLoop(parts, INTERVAL_MS), rung, bus, logger, dispatcher };
};

describe('the loop of the webhooks', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  /** The time of one interval, and all that is done without waiting for anybody. */
  const pass = async (): Promise<void> => {
    await turn();
    vi.advanceTimersByTime(INTERVAL_MS);
    await turn();
  };

  it('rings for what a sweep finds, at its start and at each interval', async () => {
    const due = [[ONE], [], [ONE, TWO]];
    const { loop, rung } = loopWith({ deliveries: { dueEndpoints: () => Promise.resolve(due.shift() ?? []) } });
    loop.start();
    await pass();
    expect(rung).toEqual([ONE]);
    await pass();
    await loop.stop();
    expect(rung).toEqual([ONE, ONE, TWO]);
  });

  it('rings for jobs and for what was asked for by hand', async () => {
    const queue = new InProcessJobQueue(silentLogger);
    const { loop, rung, bus } = loopWith({ queue });
    loop.start();
    await queue.add('webhooks', ONE);
    bus.publish(WEBHOOKS_CHANNEL, TWO);
    await vi.waitUntil(() => rung.length === 2, { timeout: 20_000 });
    await loop.stop();
    expect(rung.toSorted()).toEqual([ONE, TWO]);
  });

  it('goes on after a sweep that failed, and says so once', async () => {
    let sweeps = 0;
    const dueEndpoints = () => {
      sweeps += 1;
      return Promise.reject(new Error('no rows'));
    };
    const { loop, logger } = loopWith({ deliveries: { dueEndpoints } });
    loop.start();
    await pass();
    await pass();
    await loop.stop();
    expect(sweeps).toBe(3);
    expect(logger.errors).toHaveLength(1);
  });

  it('rings at once, and again and again, for what a process had under way that is gone, and says once what fails', async () => {
    const answers = [Promise.resolve([ONE]), Promise.reject(new Error('no rows')), Promise.resolve([TWO])];
    for (const answer of answers) answer.catch(() => undefined);
    const { loop, rung, logger } = loopWith({ lost: { end: () => answers.shift() ?? Promise.resolve([]) } });
    loop.start();
    await turn();
    expect(rung).toEqual([ONE]);
    for (let look = 0; look < 2; look += 1) {
      vi.advanceTimersByTime(500);
      await turn();
    }
    await loop.stop();
    expect(rung).toEqual([ONE, TWO]);
    expect(logger.errors).toHaveLength(1);
  });

  it('waits at its stop for what is under way, and takes up nothing more', async () => {
    const { loop, bus, rung, dispatcher } = loopWith();
    loop.start();
    await loop.stop();
    bus.publish(WEBHOOKS_CHANNEL, ONE);
    expect(rung).toEqual([]);
    expect(dispatcher.close).toHaveBeenCalled();
    expect(dispatcher.idle).toHaveBeenCalled();
  });
});

describe('the fold of the public events', () => {
  const following = (parts: Partial<WebhookLoopParts>) => {
    const held = new AbortController();
    const { loop, bus, logger, rung } = loopWith(parts);
    return { ended: loop.follow(held.signal, SESSION), bus, logger, rung, end: () => held.abort() };
  };

  it('goes on at once while there is more, and adds a job for each endpoint that something is due to', async () => {
    const batches = [at(1n, [ONE], true), at(2n, [ONE, TWO], true), at(3n)];
    const asked: bigint[] = [];
    const added: string[] = [];
    const fold = (_session: LeaseSession, { position }: { position: bigint }) => {
      asked.push(position);
      return Promise.resolve(batches.shift() ?? at(3n));
    };
    const add = (_queue: string, id: string) => Promise.resolve(void added.push(id));
    const { ended, end } = following({
      fold: { resume: () => Promise.resolve(beginning), fold },
      queue: { add, process: () => ({ close: () => Promise.resolve() }) },
    });
    await vi.waitUntil(() => batches.length === 0, { timeout: 20_000 });
    end();
    await ended;
    expect(asked).toEqual([START, 1n, 2n]);
    expect(added).toEqual([ONE, ONE, TWO]);
  });

  it('is woken by the bell of the projection', async () => {
    let folds = 0;
    const fold = () => {
      folds += 1;
      return Promise.resolve(at(1n));
    };
    const { ended, bus, end } = following({ fold: { resume: () => Promise.resolve(beginning), fold } });
    const foldedBy = (count: number) => vi.waitUntil(() => folds >= count, { timeout: 20_000, interval: 5 });
    await foldedBy(1);
    const rungAt = performance.now();
    for (let bell = 1; bell <= BELLS; bell += 1) {
      bus.publish(PUBLIC_EVENTS_CHANNEL, '');
      await foldedBy(folds + 1);
    }
    // Without a bell each fold would come a second after the one before.
    expect(performance.now() - rungAt).toBeLessThan(BELLS * 500);
    end();
    await ended;
  });

  it('asks the checkpoint where it is after a fault, says so once, and dispatches itself where no job can be added', async () => {
    let [resumed, folds] = [0, 0];
    const resume = () => {
      resumed += 1;
      return Promise.resolve(beginning);
    };
    const fold = () => {
      folds += 1;
      return folds <= 2 ? Promise.reject(new Error('no database')) : Promise.resolve(at(1n, [ONE]));
    };
    const queue = {
      add: () => Promise.reject(new Error('no Redis')),
      process: () => ({ close: () => Promise.resolve() }),
    };
    const { ended, logger, rung, end } = following({ fold: { resume, fold }, queue });
    await vi.waitUntil(() => rung.length > 0, { timeout: 20_000 });
    end();
    await ended;
    expect(resumed).toBe(3);
    expect(logger.errors).toHaveLength(1);
  });
});
