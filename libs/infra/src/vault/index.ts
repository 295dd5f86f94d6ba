export { PostgresVault } from './postgres-vault.js';
export { SealedValueRefused, VaultCipher } from './vault-cipher.js';
export { installVaultSchema, isKnownVaultKey, requireVaultKey, VaultKeyMismatch } from './vault-schema.js';
