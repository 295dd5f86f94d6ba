export { PostgresVault } from './postgres-vault.js';
export { SealedValueRefused, VaultCipher } from './vault-cipher.js';
export { installVaultSchema, requireVaultKey, VaultKeyMismatch } from './vault-schema.js';
