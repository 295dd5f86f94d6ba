import { describe } from 'vitest';
import { eventStoreContract, type EventStoreHarness } from '../../../../../test/contracts/event-store.contract.js';
import { KurrentProgram, kurrentProgram } from '../../../../../test/support/kurrent-program.js';
import { KurrentEventStore } from './kurrent-event-store.js';

const start = async (program: string): Promise<EventStoreHarness> => {
  const server = await KurrentProgram.start(program);
  const opened: KurrentEventStore[] = [];
  return {
    open: () => {
      const store = new KurrentEventStore({ url: server.url, deadlineMs: 10_000, isLongLived: true });
      opened.push(store);
      return Promise.resolve(store);
    },
    restart: async () => {
      await server.kill();
      await server.start();
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await server.stop();
    },
  };
};

const program = kurrentProgram();
describe.skipIf(program === null)('where KURRENTDB_PROGRAM names a server', () => {
  eventStoreContract('kurrent, a real server', () => start(program as string));
});
