import type { JsonObject } from '#libs/crypto';
import { sealKeyEntries, type SealKeys } from '#libs/domain/ledger';

export const keySetView = (keys: SealKeys): JsonObject => ({
  object: 'seal_key_set',
  keys: sealKeyEntries(keys).map((entry) => ({ ...entry })),
});
