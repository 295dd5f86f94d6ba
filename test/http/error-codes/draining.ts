import { vi } from 'vitest';
import type { Answer } from '../../support/service.js';
import type { Refusal } from './refusal.js';
import type { Stage } from './stage.js';

/** Milliseconds; a busy machine makes moments long. */
const PATIENCE = { timeout: 20_000, interval: 10 };

const SHUTTING_DOWN: Omit<Refusal, 'rule' | 'provoke'> = {
  verdict: [503, 'api_error', 'service_unavailable', null],
  headers: { 'retry-after': '1' },
};

/** Each after SIGTERM, while one call is still under way. */
export const WHILE_DRAINING: readonly Refusal[] = [
  { rule: 'an action', ...SHUTTING_DOWN, provoke: ({ act }) => act('lab.write', 'open') },
  { rule: 'a request without credentials', ...SHUTTING_DOWN, provoke: ({ send }) => send('GET', '/v1/policies') },
  { rule: 'a path that no endpoint has', ...SHUTTING_DOWN, provoke: ({ send }) => send('GET', '/v1/nothing') },
];

export interface Shutdown {
  /** The answer to who waited for a call when the signal came. */
  readonly underWay: Promise<Answer>;
  readonly exited: Promise<{ readonly code: number | null }>;
}

/** Ends the service as an operator does, with a call under way that keeps it up until the laboratory answers. */
export const beginShutdown = async ({ service, lab, act, send }: Stage): Promise<Shutdown> => {
  lab.hold();
  const before = lab.upstream.seen.length;
  const underWay = act('held.write', 'held', { wait: 25 });
  await vi.waitUntil(() => lab.upstream.seen.length > before, PATIENCE);
  const exited = service.kill('SIGTERM');
  await vi.waitUntil(async () => (await send('GET', '/v1/health')).json['status'] === 'draining', PATIENCE);
  return { underWay, exited };
};
