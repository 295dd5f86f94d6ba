import { type CoveringCheckpoint, encodeTlogProof, parseSignedNote, type Quorum, TileError } from '#libs/crypto';
import { DomainError, type OrgId, StoreUnavailable, type Timestamp } from '../kernel/index.js';
import type { CheckpointJournal, SignedTree } from './checkpoint-journal.js';
import type { GrownTree, LedgerTrees } from './ledger-tree.js';
import {
  type ProvenAnswer,
  provenConsistency,
  provenInclusion,
  provenRange,
  type SignedRoot,
} from './proven-answers.js';
import type { WitnessPolicies } from './witness-policies.js';

/** A checkpoint with all that witnesses said of it: its note has their cosignatures. */
export interface WitnessedTree extends SignedTree {
  /** The earliest cosignature of each witness; `at` is by its own clock. */
  readonly witnessedBy: readonly { readonly name: string; readonly at: Timestamp }[];
  /** Whether they are enough, by the policy as it is now. */
  readonly quorum: Quorum;
}

/** Checkpoints by their size. */
export abstract class SignedTreeRows {
  abstract ofSize(org: OrgId, origin: string, size: number): Promise<SignedTree | null>;
}

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
    const { last } = await this.journal.tail(org);
    return last && this.withWitnesses(org, last);
  }

  /** The newest one that meets the quorum; null where none does, or no witness is asked. */
  newestWitnessed(_org: OrgId): Promise<WitnessedTree | null> {
    return Promise.resolve(null);
  }

  /** The checkpoint of exactly this size, of the tree that is signed now. */
  async ofSize(org: OrgId, size: number): Promise<WitnessedTree | null> {
    const { last } = await this.journal.tail(org);
    if (last === null || last.checkpoint.size < size) return null;
    const signed = last.checkpoint.size === size ? last : await this.rows.ofSize(org, last.checkpoint.origin, size);
    return signed && this.withWitnesses(org, signed);
  }

  /** The checkpoint that speaks for a deed, and that its proof is given with; null where none covers it yet. */
  async speakingFor(org: OrgId, seq: number): Promise<WitnessedTree | null> {
    const signed = await this.covers(org, seq);
    return signed && this.withWitnesses(org, signed);
  }

  async withWitnesses(org: OrgId, signed: SignedTree): Promise<WitnessedTree> {
    const { quorum } = await this.policies.of(org);
    return { ...signed, witnessedBy: [], quorum: quorum === 0 ? 'none' : 'not_met' };
  }

  /** The proof that a deed is in the tree (tlog-proof, version 1); null where no checkpoint covers it yet. */
  async ofDeed(org: OrgId, seq: number): Promise<string | null> {
    const signed = await this.covers(org, seq);
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
    const signed = await this.covers(org, last);
    if (signed === null) return null;
    const { size } = signed.checkpoint;
    const range = await this.read(org, signed, provenRange({ first, last, size }));
    return { note: signed.note, range };
  }

  private async covers(org: OrgId, seq: number): Promise<SignedTree | null> {
    const { last: newest } = await this.journal.tail(org);
    return newest !== null && newest.checkpoint.size >= seq ? newest : null;
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
