export { BackupError } from './backup-error.js';
export type { LedgerHead } from './backup-manifest.js';
export { readLogHead } from './ledger-heads.js';
export { restoreBackup } from './restore-backup.js';
export { readRestoredMark, removeRestoredMark, requireSettledRestore } from './restored-mark.js';
export { withBackup } from './take-backup.js';
