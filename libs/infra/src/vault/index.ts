export { PostgresVault } from './postgres-vault.js';
export { SealedValueRefused, VaultCipher } from './vault-cipher.js';
export { isKnownVaultKey, requireVaultKey, VaultKeyMismatch } from './vault-key-check.js';
