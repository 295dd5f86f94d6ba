export { LogHasHole } from './log-subscription.js';
export { MemoryEventStore } from './memory/memory-event-store.js';
export { installEventStoreSchema, UnfitDatabase } from './postgres/install-schema.js';
export { PostgresEventStore, type PostgresEventStoreOptions } from './postgres/postgres-event-store.js';
