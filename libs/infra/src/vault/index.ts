export { PostgresVault } from './postgres-vault.js';
export { SealedValueRefused, VAULT_KEY_BYTES, VaultCipher } from './vault-cipher.js';
export { installVaultSchema, requireVaultKey, VaultKeyMismatch } from './vault-schema.js';
