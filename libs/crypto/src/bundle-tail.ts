import type { SignatureCounts } from './approval-signatures.js';
import {
  type BundleCheckpoint,
  type CheckpointFault,
  type CheckpointTrust,
  type CoveredDeeds,
  judgeNoteOf,
  judgeRangeOf,
} from './bundle-checkpoint.js';
import { BundleFormatError } from './bundle-format-error.js';
import { type BundleManifest, CHECKPOINT_ENTRY, filesOf, PAYLOADS_ENTRY, RANGE_ENTRY } from './bundle-format.js';
import { MAX_RANGE_BYTES } from './bundle-range.js';
import { type BundleReader, linesOf } from './bundle-reader.js';
import { DeedCommitments } from './deed-commitments.js';
import type { SoundDeed } from './deed-judgement.js';
import { digestBytes } from './digest.js';
import type { BundledBody } from './line-judge.js';
import { type EvidenceCounts, type EvidenceFault, PayloadJudge } from './payload-judge.js';
import { RangeLeaves } from './transparency/ledger-range.js';
import { leafHash } from './transparency/merkle-hash.js';
import { MAX_NOTE_BYTES } from './transparency/signed-note.js';

/** What is wrong behind the deeds; `seq` is that of the deed whose evidence it is. */
export interface TailFault {
  readonly reason: CheckpointFault | EvidenceFault['reason'];
  readonly seq: number | null;
}

/** Judges what follows the deeds of a bundle. Of the deeds it keeps only what the files that are listed will be compared with. */
export class BundleTail {
  fault: TailFault | null = null;
  /** Once the deeds have led to its root. */
  checkpoint: BundleCheckpoint | null = null;
  evidence: EvidenceCounts | null = null;
  approvals: SignatureCounts | null = null;
  intents: SignatureCounts | null = null;
  #note: BundleCheckpoint | null = null;
  readonly #leaves: RangeLeaves | null;
  readonly #commitments: DeedCommitments | null;

  constructor(
    private readonly manifest: BundleManifest,
    private readonly trust: CheckpointTrust,
  ) {
    const files = filesOf(manifest);
    const first = manifest.first_seq ?? 1;
    this.#leaves = files.includes(RANGE_ENTRY) ? new RangeLeaves(first) : null;
    this.#commitments = files.includes(PAYLOADS_ENTRY) ? new DeedCommitments(first) : null;
  }

  /** The next deed of the chain. */
  add({ body, bodyHash }: SoundDeed<BundledBody>): void {
    this.#leaves?.add(leafHash(digestBytes(bodyHash)));
    if (body.committed !== null) this.#commitments?.add(body.committed);
  }

  /**
   * Reads to the end of the file, or to the first fault. Without all of the deeds (`isWhole`) nothing can be compared with
   * them, and only the archive is judged.
   */
  async read(reader: BundleReader, isWhole: boolean): Promise<void> {
    for (const file of filesOf(this.manifest)) {
      if (file === PAYLOADS_ENTRY) await this.readPayloads(reader, isWhole);
      else this.readCheckpoint(file, await reader.file(file, MAX_BYTES[file]), isWhole);
      if (this.fault !== null) return;
    }
    await reader.end();
  }

  private readCheckpoint(file: keyof typeof MAX_BYTES, bytes: Uint8Array, isWhole: boolean): void {
    const { org, first_seq: first, last_seq: last } = this.manifest;
    if (!isWhole || first === null || last === null) return;
    const covered = { org, first, last };
    const fault = file === CHECKPOINT_ENTRY ? this.noteFault(bytes, covered) : this.rangeFault(bytes, covered);
    if (fault !== null) this.fault = { reason: fault, seq: null };
  }

  private noteFault(bytes: Uint8Array, covered: CoveredDeeds): CheckpointFault | null {
    const judged = judgeNoteOf(bytes, covered, this.trust);
    if (typeof judged === 'string') return judged;
    this.#note = judged;
    return null;
  }

  private rangeFault(bytes: Uint8Array, covered: CoveredDeeds): CheckpointFault | null {
    if (this.#note === null || this.#leaves === null) return 'bad_checkpoint';
    const fault = judgeRangeOf(bytes, covered, this.#note.read, this.#leaves);
    if (fault === null) this.checkpoint = this.#note;
    return fault;
  }

  private async readPayloads(reader: BundleReader, isWhole: boolean): Promise<void> {
    const judge = new PayloadJudge(this.#commitments ?? new DeedCommitments(1), this.manifest.org);
    for await (const bytes of this.payloadsOf(reader)) {
      if (!isWhole) continue;
      for (const line of linesOf(bytes)) {
        const fault = judge.step(line);
        if (fault !== null) return this.refuse(fault);
      }
    }
    if (!isWhole || this.fault !== null) return;
    this.evidence = judge.counts;
    this.approvals = judge.approvals;
    this.intents = judge.intents;
  }

  /** A line that does not end is a fault of the evidence, as one of another form is. */
  private async *payloadsOf(reader: BundleReader): AsyncGenerator<Buffer> {
    try {
      for await (const { bytes } of reader.payloads()) yield bytes;
    } catch (error) {
      if (!(error instanceof BundleFormatError) || error.reason !== 'bad_evidence') throw error;
      this.refuse({ reason: 'bad_evidence', seq: null });
    }
  }

  private refuse(fault: EvidenceFault): void {
    this.fault = fault;
  }
}

const MAX_BYTES = { [CHECKPOINT_ENTRY]: MAX_NOTE_BYTES, [RANGE_ENTRY]: MAX_RANGE_BYTES };
