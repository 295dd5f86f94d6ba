import type { EgressRequest } from '../egress-door.js';

/** Resolves to the upstream of a test. */
export const NAME = 'upstream.example';

export const requestTo = (port: number, changes: Partial<EgressRequest> = {}): EgressRequest => ({
  partition: 'org_a/con_a',
  origin: `http://${NAME}:${port}`,
  method: 'GET',
  target: '/x?y=1',
  headers: [['X-A', 'b']],
  body: null,
  maxResponseBytes: 100_000,
  keptResponseBytes: 1_048_576,
  mayReuseConnection: true,
  mayStillSend: () => Promise.resolve(null),
  signal: AbortSignal.timeout(20_000),
  ...changes,
});
