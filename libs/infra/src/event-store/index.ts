export {
  copyLog,
  LogsDiffer,
  requireEnd,
  SourceWentOn,
  type CopyLogOptions,
  type CopyProgress,
  type LogCopy,
} from './copy-log.js';
export { checkKnownStore, notedStore, noteStore, requireKnownStore, WrongEventStore } from './known-store.js';
export { KurrentEventStore } from './kurrent/kurrent-event-store.js';
export { KurrentUnavailable } from './kurrent/kurrent-failures.js';
export { LogHasHole } from './log-subscription.js';
export { MemoryEventStore } from './memory/memory-event-store.js';
export {
  openEventStore,
  openRunningLog,
  type EventStorePlace,
  type OpenedEventStore,
  type RunningLog,
} from './open-event-store.js';
export type { AppendFunctions } from './postgres/append-functions.js';
export { PostgresEventStore, type PostgresEventStoreOptions } from './postgres/postgres-event-store.js';
export { SequentialAppends } from './sequential-appends.js';
export { type PayloadsBesideLog, TransactionalAppends, type TransactionalStore } from './transactional-appends.js';
export { ForeignStore, knownStoreIdOf } from './store-id.js';
export { SeenLog } from './postgres/seen-log.js';
export { UnknownPosition } from './unknown-position.js';
