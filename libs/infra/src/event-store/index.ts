export { LogHasHole } from './log-subscription.js';
export { MemoryEventStore } from './memory/memory-event-store.js';
