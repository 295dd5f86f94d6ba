export { PepperKeyHasher } from './pepper-key-hasher.js';
export { installKeySchema, PostgresKeyDirectory } from './postgres-key-directory.js';
