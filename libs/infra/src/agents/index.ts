export { type FirstIds, firstIds, isInitialized } from './first-organization.js';
export { isKnownPepper, PepperMismatch, requirePepper } from './pepper-check.js';
export { PepperKeyHasher } from './pepper-key-hasher.js';
export { PostgresKeyDirectory } from './postgres-key-directory.js';
