import { afterEach } from 'vitest';

import {
  httpAnswer,
  type RawAnswer,
  type RawUpstream,
  startRawUpstream,
} from '../../../../../test/support/raw-upstream.js';
import { rejected } from '../../../../../test/support/thrown.js';
import type { EgressSettings } from '../destination-rules.js';
import { EgressDoor, type EgressRequest } from '../egress-door.js';
import { EgressFailure } from '../egress-failure.js';
import type { Resolve } from '../resolver.js';

/** Resolves to the upstream of a test. */
export const NAME = 'upstream.example';
/** What is undone after each test. */
export const cleanups: (() => Promise<void> | void)[] = [];
/** To be called once in a spec. */
export const cleanUpAfterEach = (): void =>
  afterEach(async () => {
    for (const clean of cleanups.splice(0)) await clean();
  });

export const upstream = async (answer: RawAnswer = () => httpAnswer(200, 'ok')): Promise<RawUpstream> => {
  const started = await startRawUpstream(answer);
  cleanups.push(() => started.close());
  return started;
};
export const toLoopback: Resolve = () => Promise.resolve(['127.0.0.1']);
export const doorOf = (settings: Partial<EgressSettings> = {}, resolve: Resolve = toLoopback): EgressDoor => {
  const door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [], ...settings },
    resolve,
  });
  cleanups.push(() => {
    door.close();
  });
  return door;
};
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
export const failureOf = (answer: Promise<unknown>): Promise<EgressFailure> => rejected(EgressFailure, answer);
