export { PolledSealingBacklog } from './polled-sealing-backlog.js';
export { PostgresBrokenLedgers } from './postgres-broken-ledgers.js';
export { PostgresLedgerTreeRows } from './postgres-ledger-tree-rows.js';
export { PostgresSealerProgress } from './postgres-sealer-progress.js';
export { readSignedTree, RememberedTreesFolder, signedTreesPath } from './remembered-trees-folder.js';
export { readSealedHeads, SealedHeadsFile, sealedHeadsPath } from './sealed-heads-file.js';
export { VaultCheckpointKeyRing } from './vault-checkpoint-key-ring.js';
export { VaultSealKeyRing } from './vault-seal-key-ring.js';
