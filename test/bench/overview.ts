import { setTimeout as sleep } from 'node:timers/promises';
import { givenRows } from './lists.js';
import type { BenchService } from './bench-service.js';
import { against, print, say } from './figure.js';
import { quantile } from './pace.js';

const FEW = 10_000;
const MANY = 1_000_000;
/** An answer is kept for ten seconds: each round asks for what has to be read. */
const KEPT_MS = 10_100;
const WARM_UP_ROUNDS = 2;
const ROUNDS = 8;
/** The longer one and the one before it hold all of them. */
const WINDOWS = ['24h', '7d'] as const;

/**
 * The overview of each window with a million actions, in units of the same with ten thousand. Both lie in the same days, so that
 * as many hours are added up: what differs is how much happened in each.
 */
export const overviewSpeed = async (service: BenchService): Promise<void> => {
  const server = await service.database();
  const grow = (from: number, to: number): Promise<void> =>
    givenRows(server.connectionString('service'), service.org, String(from), String(to), 'spread');
  try {
    await grow(0, FEW);
    const few = await median(service);
    await grow(FEW, MANY);
    const many = await median(service);
    print(against('overview_p50', [many, few], 'ms'), service.profile);
  } finally {
    await server.release();
  }
};

const median = async (service: BenchService): Promise<number> => {
  const samples = new Map(WINDOWS.map((window) => [window, [] as number[]]));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    await sleep(KEPT_MS);
    for (const [window, all] of samples) {
      const tookMs = await overview(service, window);
      if (round >= 0) all.push(tookMs);
    }
  }
  const medians = [...samples].map(([window, all]) => [window, quantile(all, 0.5)] as const);
  say(`  ${medians.map(([window, ms]) => `${window} ${ms.toFixed(1)} ms`).join(', ')}`);
  return Math.max(...medians.map(([, ms]) => ms));
};

/** @returns milliseconds, as its caller sees it */
const overview = async (service: BenchService, window: string): Promise<number> => {
  const begun = performance.now();
  const answer = await service.call('GET', `/v1/overview?window=${window}`, { key: service.adminKey });
  const tookMs = performance.now() - begun;
  if (answer.status !== 200) throw new Error(answer.text);
  return tookMs;
};
