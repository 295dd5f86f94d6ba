export { PostgresRecordedCalls } from './postgres-recorded-calls.js';
export { PostgresReplayRows } from './postgres-replay-rows.js';
export { claimOf, PostgresReplayWork } from './postgres-replay-work.js';
export { startReplay, type ReplayChild, type ReplayExit } from './start-replay.js';
