export { installLedgerSchema, PostgresSealerProgress } from './postgres-sealer-progress.js';
