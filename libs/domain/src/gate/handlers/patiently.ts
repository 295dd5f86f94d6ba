import { setTimeout as sleep } from 'node:timers/promises';
import { isStoreAway, type Clock } from '../../kernel/index.js';

/** How long a store that is away is waited for. After it the word of whoever recovers stands. */
export const STORE_PATIENCE_MS = 120_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 2_000;

/** Repeats work that is safe to repeat for as long as the store is away and there is patience left. */
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
