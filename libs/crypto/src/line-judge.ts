import { linesOf } from './bundle-reader.js';
import { type BundleManifest, filesOf, PAYLOADS_ENTRY } from './bundle-format.js';
import type { LineFault } from './bundle-verdict.js';
import { readLine } from './bundle-walk.js';
import { type LinkedBody, revokedKid } from './deed-chain.js';
import { type Committed, committedOf } from './deed-commitments.js';
import { type DeedJudgement, judgeSeal, type ReadDeed } from './deed-judgement.js';
import type { DeedBody } from './deed-schema.js';
import type { Keyring } from './keyring.js';
import { isSealSigned } from './seal.js';

/** What is left of a deed until it is walked, and all of it that goes from thread to thread. */
export interface BundledBody extends LinkedBody {
  /** What it commits to, where the bundle gives what that stands for. */
  readonly committed: Committed | null;
}

/** What a line says by itself, and of its deed as much as its place in the chain depends on. */
export type LineJudgement = DeedJudgement<LineFault, BundledBody>;

/** Judges blocks of lines, wherever it does that. */
export interface LineJudge {
  /** How many blocks are best given to it at a time. */
  readonly blocksInFlight: number;
  /** The lines of a block in order, up to the first one at fault: what follows cannot be judged. */
  judge(block: Buffer, firstSeq: number): Promise<readonly LineJudgement[]>;
  close(): Promise<void>;
}

/** Judges on the calling thread. */
export const judgeHere = (manifest: BundleManifest, keyring: Keyring): LineJudge => ({
  blocksInFlight: 1,
  judge: async (block, firstSeq) => judgeLines(block, firstSeq, manifest, keyring),
  close: () => Promise.resolve(),
});

/**
 * Reads all lines before it verifies the first signature: the two kinds of work need different code and tables, and
 * taking turns deed by deed each would find the processor's caches full of the other's.
 */
export const judgeLines = (
  block: Buffer,
  firstSeq: number,
  manifest: BundleManifest,
  keyring: Keyring,
): LineJudgement[] => {
  const read: ReadDeed<BundledBody>[] = [];
  const isOpened = filesOf(manifest).includes(PAYLOADS_ENTRY);
  let faulty: LineJudgement | null = null;
  for (const line of linesOf(block)) {
    const deed = readLine(line, firstSeq + read.length, manifest, keyring);
    // What waits for its signature is small, or the garbage collector would carry whole bodies about.
    if (deed.fault === null) read.push({ ...deed, body: linkOnly(deed.body, isOpened) });
    else faulty = deed;
    if (faulty !== null) break;
  }
  const judged: LineJudgement[] = read.map((deed) => judgeSeal(deed, isSealSigned));
  return faulty === null ? judged : [...judged, faulty];
};

const linkOnly = (body: DeedBody, isOpened: boolean): BundledBody => {
  const { org, seq, issued_at, chain, admin } = body;
  const committed = isOpened ? committedOf(body) : null;
  return { org, seq, issued_at, chain, admin: revokedKid(body) === null ? null : admin, committed };
};
