export { ChangeLogFault, type ChangeLogFaultReason } from './change-log-fault.js';
export { ChangeLogReader, type FollowedLog } from './change-log-reader.js';
export type { DialledConnection } from './dialled-client.js';
export { ROWS_BYTES_MAX, VALUE_BYTES_MAX } from './kept-values.js';
export { compareLsn, formatLsn, parseLsn } from './lsn.js';
export type { FoundLog } from './replication-connection.js';
export { createSlot, dropSlot, type LogIdentity, logIdentityOf, type SlotState, slotStateOf } from './slots.js';
export { TransactionAssembler } from './transaction-assembler.js';
export { EgressChangeLogSource } from './egress-change-log-source.js';
