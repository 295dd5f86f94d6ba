import { transactionalAppendsContract } from '../../../../../test/contracts/compound-appends.contract.js';
import { eventStoreContract, type EventStoreHarness } from '../../../../../test/contracts/event-store.contract.js';
import { heldBesideLog } from '../../../../../test/support/payloads-beside-log.js';
import { TransactionalAppends } from '../transactional-appends.js';
import { MemoryEventStore } from './memory-event-store.js';

const start = (): Promise<EventStoreHarness> => {
  const store = new MemoryEventStore();
  return Promise.resolve({ open: () => Promise.resolve(store), close: () => Promise.resolve() });
};

eventStoreContract('memory', start);

transactionalAppendsContract('memory, with payloads elsewhere', () => {
  const [store, payloads] = [new MemoryEventStore(), heldBesideLog()];
  const client = { store, appends: new TransactionalAppends(store, payloads, 0), storedBody: payloads.storedBody };
  return Promise.resolve({ open: () => Promise.resolve(client), close: () => Promise.resolve() });
});
