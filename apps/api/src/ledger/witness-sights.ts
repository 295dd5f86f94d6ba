import { Injectable } from '@nestjs/common';
import { type Digest, type JsonObject, parseVkey, SIGNATURE_TYPE } from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import {
  LedgerProofs,
  type LedgerWitness,
  type WitnessedTree,
  type WitnessPolicy,
  type WitnessStanding,
  WitnessStandings,
} from '#libs/domain/ledger';

/** The policy of an organization as people see it: with how each witness stands. */
@Injectable()
export class WitnessSights {
  constructor(
    private readonly proofs: LedgerProofs,
    private readonly standings: WitnessStandings,
  ) {}

  async of(org: OrgId, policy: WitnessPolicy): Promise<JsonObject> {
    const newest = policy.witnesses.length === 0 ? null : await this.proofs.newest(org);
    const known = newest === null ? NOBODY : await this.standings.of(org, newest.checkpoint.origin);
    const { quorum, witnesses, updatedAt } = policy;
    return {
      object: 'witness_policy',
      quorum,
      witnesses: witnesses.map((witness) => witnessView(witness, known.get(witness.witness), newest)),
      witnessed: witnessedView(newest && (await this.proofs.newestWitnessed(org)), policy),
      updated_at: updatedAt,
    };
  }
}

const NOBODY: ReadonlyMap<Digest, WitnessStanding> = new Map();

const witnessView = (
  { name, vkey, url, addedAt }: LedgerWitness,
  standing: WitnessStanding | undefined,
  newest: WitnessedTree | null,
): JsonObject => ({
  name,
  vkey,
  url,
  algorithm: parseVkey(vkey).type === SIGNATURE_TYPE.mlDsa44Cosignature ? 'ml-dsa-44' : 'ed25519',
  added_at: addedAt,
  standing: standing === undefined || newest === null ? NEVER_ASKED : standingView(standing, newest),
});

const NEVER_ASKED = { state: 'never_asked', size: null, at: null, detail: null, next_try_at: null };

const standingView = (
  { size, cosignedAt, result, detail, nextTryAt }: WitnessStanding,
  newest: WitnessedTree,
): JsonObject => ({
  state: result === 'cosigned' ? (size < newest.checkpoint.size ? 'behind' : 'current') : result,
  size: size === 0 ? null : size,
  at: cosignedAt,
  detail,
  next_try_at: nextTryAt,
});

/** The quorum was met when the last of the witnesses that it needs had cosigned. */
const witnessedView = (tree: WitnessedTree | null, { quorum, witnesses }: WitnessPolicy): JsonObject | null => {
  if (tree === null) return null;
  const times = tree.witnessedBy
    .filter(({ witness }) => witnesses.some((each) => each.witness === witness))
    .map(({ at }) => at);
  return { size: tree.checkpoint.size, at: times.toSorted()[quorum - 1] ?? tree.at };
};
