import { eventStoreContract } from '../../../../../test/contracts/event-store.contract.js';
import { MemoryEventStore } from './memory-event-store.js';

eventStoreContract('memory', () => {
  const store = new MemoryEventStore();
  return Promise.resolve({ open: () => Promise.resolve(store), close: () => Promise.resolve() });
});
