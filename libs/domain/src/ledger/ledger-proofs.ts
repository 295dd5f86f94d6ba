import {
  type CoveringCheckpoint,
  type Digest,
  encodeTlogProof,
  parseSignedNote,
  type Quorum,
  TileError,
} from '#libs/crypto';
import { DomainError, type OrgId, StoreUnavailable, type Timestamp } from '../kernel/index.js';
import type { CheckpointJournal, Cosignature, SignedTree } from './checkpoint-journal.js';
import type { GrownTree, LedgerTrees } from './ledger-tree.js';
import {
  type ProvenAnswer,
  provenConsistency,
  provenInclusion,
  provenRange,
  type SignedRoot,
} from './proven-answers.js';
import type { WitnessPolicies } from './witness-policies.js';
import type { WitnessPolicy } from './witness-policy.decider.js';

/** A checkpoint with all that witnesses said of it: its note has their cosignatures. */
export interface WitnessedTree extends SignedTree {
  /** The earliest cosignature of each witness; `at` is by its own clock. */
  readonly witnessedBy: readonly { readonly witness: Digest; readonly name: string; readonly at: Timestamp }[];
  /** Whether they are enough, by the policy as it is now. */
  readonly quorum: Quorum;
}

/** Which checkpoint is looked for: one that so many of these witnesses have cosigned. */
export interface WitnessedSize {
  readonly origin: string;
  readonly witnesses: readonly Digest[];
  readonly quorum: number;
  /** The smallest over so many deeds; null: the newest. */
  readonly atLeast: number | null;
}

/** Checkpoints by their size, and what witnesses said of them. */
export abstract class SignedTreeRows {
  abstract ofSize(org: OrgId, origin: string, size: number): Promise<SignedTree | null>;
  abstract cosignatures(org: OrgId, origin: string, size: number): Promise<readonly Cosignature[]>;
  abstract witnessedSize(org: OrgId, wanted: WitnessedSize): Promise<number | null>;
}

/** As many as a note may have, beside those of the log's own keys. */
const MAX_COSIGNATURES = 64;

/** Proofs in the trees that were signed. Each is checked against the signed root before anybody gets it. */
export class LedgerProofs {
  constructor(
    private readonly journal: Pick<CheckpointJournal, 'tail'>,
    private readonly trees: Pick<LedgerTrees, 'stored' | 'mended'>,
    private readonly rows: SignedTreeRows,
    private readonly policies: Pick<WitnessPolicies, 'of'>,
  ) {}

  /** Null where nothing was signed yet. */
  async newest(org: OrgId): Promise<WitnessedTree | null> {
    const { last, cosignatures } = await this.journal.tail(org);
    return last && witnessedTree(last, cosignatures, await this.policies.of(org));
  }

  /** The newest one that meets the quorum; null where none does, or no witness is asked. */
  async newestWitnessed(org: OrgId): Promise<WitnessedTree | null> {
    const newest = await this.newest(org);
    return newest === null || newest.quorum === 'met' ? newest : this.witnessed(org, newest, null);
  }

  /** The checkpoint of exactly this size, of the tree that is signed now. */
  async ofSize(org: OrgId, size: number): Promise<WitnessedTree | null> {
    const newest = await this.newest(org);
    if (newest === null || newest.checkpoint.size < size) return null;
    return newest.checkpoint.size === size ? newest : this.rowOf(org, newest.checkpoint.origin, size);
  }

  /**
   * The checkpoint that speaks for a deed: the smallest over it that meets the quorum, else the newest. Null where none covers
   * it yet.
   */
  async speakingFor(org: OrgId, seq: number): Promise<WitnessedTree | null> {
    const newest = await this.newest(org);
    if (newest === null || newest.checkpoint.size < seq) return null;
    return (await this.witnessed(org, newest, seq)) ?? newest;
  }

  private async witnessed(org: OrgId, newest: WitnessedTree, atLeast: number | null): Promise<WitnessedTree | null> {
    const { witnesses, quorum } = await this.policies.of(org);
    if (quorum === 0) return null;
    const { origin } = newest.checkpoint;
    const keys = witnesses.map(({ witness }) => witness);
    const size = await this.rows.witnessedSize(org, { origin, witnesses: keys, quorum, atLeast });
    return size === null ? null : this.rowOf(org, origin, size);
  }

  private async rowOf(org: OrgId, origin: string, size: number): Promise<WitnessedTree | null> {
    const signed = await this.rows.ofSize(org, origin, size);
    if (signed === null) return null;
    return witnessedTree(signed, await this.rows.cosignatures(org, origin, size), await this.policies.of(org));
  }

  /** The proof that a deed is in the tree (tlog-proof, version 1); null where no checkpoint covers it yet. */
  async ofDeed(org: OrgId, seq: number): Promise<string | null> {
    const signed = await this.speakingFor(org, seq);
    if (signed === null) return null;
    const proof = await this.read(org, signed, provenInclusion(seq - 1));
    return encodeTlogProof({ extra: null, index: seq - 1, proof, note: parseSignedNote(Buffer.from(signed.note)) });
  }

  /**
   * That the tree of size `to` continues the one of size `from`.
   * @throws {DomainError} `validation_failed` for sizes that no signed tree has
   */
  async consistency(org: OrgId, from: number, to: number): Promise<readonly Uint8Array[]> {
    const { last } = await this.journal.tail(org);
    if (last === null || to > last.checkpoint.size) throw sizeProblem('to', 'must not be above the newest checkpoint');
    if (from > to) throw sizeProblem('from', 'must not be above to: a tree only grows');
    return this.read(org, last, provenConsistency(from, to));
  }

  /** For a bundle of the deeds `first` to `last`; null where no checkpoint covers them. */
  async covering(org: OrgId, first: number, last: number): Promise<CoveringCheckpoint | null> {
    const signed = await this.speakingFor(org, last);
    if (signed === null) return null;
    const { size } = signed.checkpoint;
    const range = await this.read(org, signed, provenRange({ first, last, size }));
    return { note: signed.note, range };
  }

  /**
   * Asks the stored hashes, and once those that the deeds give where the proof does not hold.
   * @throws {DomainError} `ledger_inconsistent` when the deeds do not lead to the signed root either
   * @throws {StoreUnavailable} also while another process makes them anew
   */
  private async read<Proof>(org: OrgId, { checkpoint }: SignedTree, ask: ProvenAnswer<Proof>): Promise<Proof> {
    const proof = await proven(await this.trees.stored(org), checkpoint, ask);
    if (proof !== null) return proof;
    const mended = await this.trees.mended(org, checkpoint);
    if (mended === null) throw new DomainError('ledger_inconsistent');
    const provenNow = await proven(mended, checkpoint, ask);
    if (provenNow !== null) return provenNow;
    throw new StoreUnavailable(
      `the stored hashes of the tree of ${org} were made anew and prove nothing again: \`npm run ags -- ledger rebuild-hashes\``,
    );
  }
}

const proven = async <Proof>(tree: GrownTree, signed: SignedRoot, ask: ProvenAnswer<Proof>): Promise<Proof | null> => {
  if (tree.size < signed.size) return null;
  try {
    return await ask(tree.hashes, signed);
  } catch (error) {
    if (error instanceof TileError) return null;
    throw error;
  }
};

const sizeProblem = (param: string, problem: string): DomainError =>
  new DomainError('validation_failed', { param, message: `The parameter ${param} ${problem}.` });

/** With all that was said of it; whether that is enough, the policy of today says. */
const witnessedTree = (
  { checkpoint, note, at }: SignedTree,
  cosignatures: readonly Cosignature[],
  { witnesses, quorum }: WitnessPolicy,
): WitnessedTree => {
  const said = cosignatures.toSorted((one, other) => (one.cosignedAt < other.cosignedAt ? -1 : 1));
  const counted = witnesses.filter(({ witness }) => said.some((each) => each.witness === witness)).length;
  const lines = said.slice(0, MAX_COSIGNATURES).map(({ line }) => line);
  return {
    ...{ checkpoint, at, note: `${note}${lines.join('')}` },
    witnessedBy: said.map(({ witness, name, cosignedAt }) => ({ witness, name, at: cosignedAt })),
    quorum: quorum === 0 ? 'none' : counted >= quorum ? 'met' : 'not_met',
  };
};
