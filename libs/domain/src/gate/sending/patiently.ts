import { setTimeout as sleep } from 'node:timers/promises';
import { isStoreAway, type Clock } from '../../kernel/index.js';

/** How long work is repeated while the store is unavailable. After that, recovery by a sweeper takes over. */
export const STORE_PATIENCE_MS = 120_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 2_000;

/** Repeats idempotent work while the store is unavailable, for at most {@link STORE_PATIENCE_MS}. */
export const patiently = async <Result>(
  clock: Pick<Clock, 'monotonicMs'>,
  work: () => Promise<Result>,
  onAway: (error: unknown) => void,
): Promise<Result> => {
  const begunMs = clock.monotonicMs();
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      const waitedMs = clock.monotonicMs() - begunMs;
      if (!isStoreAway(error) || waitedMs + waitMs > STORE_PATIENCE_MS) throw error;
      onAway(error);
      await sleep(waitMs);
    }
  }
};
