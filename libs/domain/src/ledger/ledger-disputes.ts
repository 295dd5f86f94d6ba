import { isSameHash, judgeCheckpoint, rootOfTree } from '#libs/crypto';
import type { OrgId } from '../kernel/index.js';
import { type CheckpointSigningKeys, checkpointVkey } from './checkpoint-keys.js';
import type { BrokenLedger } from './checkpoint.ports.js';
import type { LedgerTrees } from './ledger-tree.js';
import type { WitnessPolicies } from './witness-policies.js';
import type { WitnessDispute, WitnessDisputes, WitnessStandings } from './witness.ports.js';

export interface LedgerDisputesParts {
  readonly disputes: Pick<WitnessDisputes, 'of'>;
  readonly standings: Pick<WitnessStandings, 'of' | 'resume'>;
  readonly policies: Pick<WitnessPolicies, 'of'>;
  readonly keys: Pick<CheckpointSigningKeys, 'list'>;
  readonly trees: Pick<LedgerTrees, 'grownTo'>;
}

const NO_WITNESSES = { logs: [], witnesses: [], groups: [], quorum: 'none' } as const;

/** What witnesses hold against a tree, when an operator looks at it again. */
export class LedgerDisputes {
  constructor(private readonly parts: LedgerDisputesParts) {}

  /**
   * Whether any of it still stands against the ledger of so many deeds: a checkpoint of ours that it does not continue,
   * whenever it was shown, or the word of a witness that is still asked and has a larger one. A word counts until somebody
   * has looked: as long as its witness stands as one that disagrees, and where a process ended before it said so, from the
   * beginning of the break on. What nobody can prove any more, the witness is asked anew.
   * @param since of the break
   */
  async stand(org: OrgId, origin: string, { size, since }: Pick<BrokenLedger, 'size' | 'since'>): Promise<boolean> {
    const { witnesses } = await this.parts.policies.of(org);
    const standings = await this.parts.standings.of(org, origin);
    for (const dispute of await this.parts.disputes.of(org, origin)) {
      const isAsked = witnesses.some(({ witness }) => witness === dispute.witness);
      const isOpen = standings.get(dispute.witness)?.result === 'disagrees' || dispute.at >= since;
      if (isAsked && isOpen && (dispute.theirSize ?? 0) > size) return true;
      if (await this.isProvenAgainst(org, origin, size, dispute)) return true;
    }
    return false;
  }

  /** Whoever disagreed is asked again. */
  settle(org: OrgId, origin: string): Promise<void> {
    return this.parts.standings.resume(org, origin);
  }

  /** Under our own key, a tree that this one does not continue. */
  private async isProvenAgainst(
    org: OrgId,
    origin: string,
    size: number,
    { theirNote }: WitnessDispute,
  ): Promise<boolean> {
    if (theirNote === null) return false;
    const logs = (await this.parts.keys.list()).map(({ publicKey }) => checkpointVkey(origin, publicKey));
    const judged = judgeCheckpoint(Buffer.from(theirNote), NO_WITNESSES, logs);
    if (judged.result !== 'signed') return false;
    const { size: theirs, root } = judged.checkpoint;
    if (theirs > size) return true;
    const { hashes } = await this.parts.trees.grownTo(org, size);
    return !isSameHash(await rootOfTree(hashes, theirs), root);
  }
}
