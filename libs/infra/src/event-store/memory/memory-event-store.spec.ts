import { eventStoreContract, type EventStoreHarness } from '../../../../../test/contracts/event-store.contract.js';
import { accompaniedAppendContract } from '../../../../../test/contracts/event-store/accompanied-append.contract.js';
import { MemoryEventStore } from './memory-event-store.js';

const start = (): Promise<EventStoreHarness> => {
  const store = new MemoryEventStore();
  return Promise.resolve({ open: () => Promise.resolve(store), close: () => Promise.resolve() });
};

eventStoreContract('memory', start);
accompaniedAppendContract('memory', start);
