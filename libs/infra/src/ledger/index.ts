export { PolledSealingBacklog } from './polled-sealing-backlog.js';
export { PostgresSealerProgress } from './postgres-sealer-progress.js';
export { readSealedHeads, SealedHeadsFile, sealedHeadsPath } from './sealed-heads-file.js';
export { VaultSealKeyRing } from './vault-seal-key-ring.js';
