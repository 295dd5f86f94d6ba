import { afterEach } from 'vitest';

import {
  httpAnswer,
  type RawAnswer,
  type RawUpstream,
  startRawUpstream,
} from '../../../../../test/support/raw-upstream.js';
import { rejected } from '../../../../../test/support/thrown.js';
import type { EgressSettings } from '../destination-rules.js';
import { EgressDoor } from '../egress-door.js';
import { EgressFailure } from '../egress-failure.js';
import type { Resolve } from '../resolver.js';

export { NAME, requestTo } from './request-to.js';

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
export const failureOf = (answer: Promise<unknown>): Promise<EgressFailure> => rejected(EgressFailure, answer);
