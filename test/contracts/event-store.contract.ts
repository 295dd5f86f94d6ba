import { afterAll, beforeAll, describe } from 'vitest';
import { appendSizeContract } from './event-store/append-size.contract.js';
import { appendContract } from './event-store/append.contract.js';
import { lateCommitContract } from './event-store/late-commit.contract.js';
import type { EventStoreHarness, LogUnderTest } from './event-store/log-under-test.js';
import { readingContract } from './event-store/reading.contract.js';
import { repeatedAppendContract } from './event-store/repeated-append.contract.js';
import { restartContract } from './event-store/restart.contract.js';
import { subscriptionContract } from './event-store/subscription.contract.js';

export type { EventStoreHarness } from './event-store/log-under-test.js';

/** The contract that every adapter of the port keeps (libs/domain/src/kernel/event-store.port.ts). */
export const eventStoreContract = (adapter: string, start: () => Promise<EventStoreHarness>): void => {
  describe(`event store contract: ${adapter}`, () => {
    const log = {} as { -readonly [Part in keyof LogUnderTest]: LogUnderTest[Part] };

    beforeAll(async () => {
      log.harness = await start();
      log.store = await log.harness.open();
    });
    afterAll(() => log.harness.close());

    appendContract(log);
    repeatedAppendContract(log);
    appendSizeContract(log);
    readingContract(log);
    lateCommitContract(log);
    subscriptionContract(log);
    restartContract(log);
  });
};
