export { EventStoreWithFailpoints } from './event-store-with-failpoints.js';
export { LogHasHole } from './log-subscription.js';
export { MemoryEventStore } from './memory/memory-event-store.js';
export { LOG_LOCK } from './postgres/append-function.sql.js';
export { EVENT_STORE_VERSION, installEventStoreSchema, UnfitDatabase } from './postgres/install-schema.js';
export { payloadArrays } from './postgres/payload-arrays.js';
export { PostgresEventStore, type PostgresEventStoreOptions } from './postgres/postgres-event-store.js';
export { SeenLog } from './postgres/seen-log.js';
