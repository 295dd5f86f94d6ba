import { type JsonObject, parseVkey, SIGNATURE_TYPE } from '#libs/crypto';
import type { LedgerWitness, WitnessPolicy } from '#libs/domain/ledger';

export const witnessPolicyView = ({ quorum, witnesses, updatedAt }: WitnessPolicy): JsonObject => ({
  object: 'witness_policy',
  quorum,
  witnesses: witnesses.map(witnessView),
  witnessed: null,
  updated_at: updatedAt,
});

const witnessView = ({ name, vkey, url, addedAt }: LedgerWitness): JsonObject => ({
  name,
  vkey,
  url,
  algorithm: parseVkey(vkey).type === SIGNATURE_TYPE.mlDsa44Cosignature ? 'ml-dsa-44' : 'ed25519',
  added_at: addedAt,
  standing: { state: 'never_asked', size: null, at: null, detail: null, next_try_at: null },
});
