import { bytesOfBase64, encodeBase64 } from './base64.js';
import { type ReadCheckpoint, checkpointIn } from './checkpoint.js';
import { type CheckpointRefusal, judgeCheckpoint, type SignedCheckpoint } from './checkpoint-judgement.js';
import { isHash } from './merkle-hash.js';
import { isIncluded, MAX_PROOF_HASHES } from './merkle-proof.js';
import { hashLines, readHashLines, splitHead } from './note-head.js';
import { formatNote, MAX_NOTE_BYTES, parseSignedNote, type SignedNote, SignedNoteError } from './signed-note.js';
import { isCount, readDecimal, strictText, type TextFault, utf8 } from './strict-text.js';
import type { TlogPolicy } from './tlog-policy.js';
import type { Vkey } from './vkey.js';

/** Why bytes are no proof. Closed, in the order of the lines. */
export type TlogProofReason =
  | TextFault
  | 'no_blank_line'
  | 'version'
  | 'extra'
  | 'index'
  | 'proof_line'
  | 'too_many_proof_lines'
  | 'note'
  | 'checkpoint';

/** Bytes that have not the form of tlog-proof, version 1. */
export class TlogProofError extends Error {
  override readonly name = 'TlogProofError';

  constructor(
    readonly reason: TlogProofReason,
    options?: ErrorOptions,
  ) {
    super(`tlog proof refused: ${reason}`, options);
  }
}

/** That an entry stands in a log, for whoever knows the entry, the log's key and the witnesses. */
export interface TlogProof {
  /** Opaque and authenticated by nothing: it must not be trusted implicitly. Null where there is none. */
  readonly extra: Uint8Array | null;
  /** From 0. */
  readonly index: number;
  readonly proof: readonly Uint8Array[];
  readonly note: SignedNote;
}

/** As it was read: nothing is verified. */
export interface ReadTlogProof extends TlogProof {
  readonly checkpoint: ReadCheckpoint;
}

export const TLOG_PROOF_EXTENSION = '.tlog-proof';
export const MAX_EXTRA_BYTES = 64 * 1024;
/** A note, extra data in base64, 63 hashes and the index. */
export const MAX_TLOG_PROOF_BYTES = MAX_NOTE_BYTES + 2 * MAX_EXTRA_BYTES;

const VERSION_LINE = 'c2sp.org/tlog-proof@v1';
const EXTRA_PREFIX = 'extra ';
const INDEX_PREFIX = 'index ';

const refuse = (reason: TlogProofReason): never => {
  throw new TlogProofError(reason);
};

/** The text of a proof. Throws `TlogProofError`, or `SignedNoteError` for a note that has no form. */
export const encodeTlogProof = ({ extra, index, proof, note }: TlogProof): string => {
  if (extra !== null && !isExtra(extra)) return refuse('extra');
  if (!isCount(index)) return refuse('index');
  if (!proof.every(isHash)) return refuse('proof_line');
  if (proof.length > MAX_PROOF_HASHES) return refuse('too_many_proof_lines');
  if (checkpointIn(note.text) === null) return refuse('checkpoint');
  const extraLine = extra === null ? '' : `${EXTRA_PREFIX}${encodeBase64(extra)}\n`;
  return `${VERSION_LINE}\n${extraLine}${INDEX_PREFIX}${index}\n${hashLines(proof)}\n${formatNote(note)}`;
};

/** Where there is no extra data, there is no line for it. */
const isExtra = ({ byteLength }: Uint8Array): boolean => byteLength > 0 && byteLength <= MAX_EXTRA_BYTES;

/** Reads a proof. Throws `TlogProofError`. */
export const parseTlogProof = (bytes: Uint8Array): ReadTlogProof => {
  const text = strictText(bytes, MAX_TLOG_PROOF_BYTES, refuse);
  const { head, note: rest } = splitHead(text) ?? refuse('no_blank_line');
  const [version, ...lines] = head;
  if (version !== VERSION_LINE) return refuse('version');
  const extraLine = lines[0]?.startsWith(EXTRA_PREFIX) === true ? lines.shift() : undefined;
  const extra = extraLine === undefined ? null : readExtra(extraLine);
  const indexLine = lines.shift() ?? '';
  const index = indexLine.startsWith(INDEX_PREFIX) ? readDecimal(indexLine.slice(INDEX_PREFIX.length)) : null;
  if (index === null) return refuse('index');
  if (lines.length > MAX_PROOF_HASHES) return refuse('too_many_proof_lines');
  const proof = readHashLines(lines) ?? refuse('proof_line');
  const note = noteIn(rest);
  return { extra, index, proof, note, checkpoint: checkpointIn(note.text) ?? refuse('checkpoint') };
};

const readExtra = (line: string): Uint8Array => {
  const extra = bytesOfBase64(line.slice(EXTRA_PREFIX.length), MAX_EXTRA_BYTES);
  return extra === null || !isExtra(extra) ? refuse('extra') : extra;
};

const noteIn = (text: string): SignedNote => {
  try {
    return parseSignedNote(utf8(text));
  } catch (error) {
    if (error instanceof SignedNoteError) throw new TlogProofError('note', { cause: error });
    throw error;
  }
};

/** What a reader knows from elsewhere. `logs` are trusted log keys, where the policy is not to say them. */
export interface ProofFacts {
  readonly leafHash: Uint8Array;
  readonly policy: TlogPolicy;
  readonly logs?: readonly Vkey[];
}

/** `not_witnessed`: the quorum of the policy is not met. `not_included`: the proof does not bind the leaf to the root. */
export type ProofRefusal = CheckpointRefusal | 'not_witnessed' | 'not_included';

export type ProofJudgement =
  | { readonly result: 'included'; readonly index: number; readonly signed: SignedCheckpoint }
  | { readonly result: 'refused'; readonly reason: ProofRefusal };

/** The four steps of tlog-proof, Verifying a tlog proof; the first, the leaf hash, is the caller's. */
export const judgeTlogProof = (read: ReadTlogProof, { leafHash, policy, logs }: ProofFacts): ProofJudgement => {
  const judged = judgeCheckpoint(read.note, policy, logs);
  if (judged.result === 'refused') return judged;
  if (judged.quorum === 'not_met') return { result: 'refused', reason: 'not_witnessed' };
  const { size, root } = judged.checkpoint;
  const { index, proof } = read;
  if (!isIncluded({ index, size, leafHash, root, proof })) return { result: 'refused', reason: 'not_included' };
  return { result: 'included', index, signed: judged };
};
