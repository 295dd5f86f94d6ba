import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from './service.js';

const LAG_HEADER = 'service-projection-lag';
const DEADLINE_MS = 30_000;
const POLL_MS = 50;

/** What a list answers once its rows tell of all there is: a busy projector may be later than a read waits for it. */
export const upToDate = async (ask: () => Promise<Answer>): Promise<Answer> => {
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (!answer.headers.has(LAG_HEADER) || performance.now() > deadlineMs) return answer;
    await delay(POLL_MS);
  }
};
