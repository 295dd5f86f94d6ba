import { compoundAppendsContract } from '../../../../../test/contracts/compound-appends.contract.js';
import { eventStoreContract } from '../../../../../test/contracts/event-store.contract.js';
import { heldBesideLog } from '../../../../../test/support/payloads-beside-log.js';
import { KURRENT_LOG_UNDER_TEST, startKurrentLog } from '../../../../../test/support/kurrent-log-under-test.js';
import { SequentialAppends } from '../sequential-appends.js';
import { KurrentEventStore } from './kurrent-event-store.js';

const start = async () => {
  const server = await startKurrentLog();
  const opened: KurrentEventStore[] = [];
  return {
    open: () => {
      // Only the first store is long-lived, as in a program: twenty in one process, each receiving every event, would
      // only test the machine.
      const isLongLived = opened.length === 0;
      // A server that recovers while other work runs takes longer than the default.
      const store = new KurrentEventStore({ url: server.url, deadlineMs: 30_000, isLongLived });
      opened.push(store);
      return Promise.resolve(store);
    },
    restart: async () => {
      await server.kill();
      await server.start();
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await server.close();
    },
  };
};

eventStoreContract(`kurrent, against ${KURRENT_LOG_UNDER_TEST}`, start);

compoundAppendsContract(`one after the other, against ${KURRENT_LOG_UNDER_TEST}`, async () => {
  const [log, payloads] = [await start(), heldBesideLog()];
  return {
    open: async () => {
      const store = await log.open();
      return { store, appends: new SequentialAppends(store, payloads), storedBody: payloads.storedBody };
    },
    close: log.close,
  };
});
