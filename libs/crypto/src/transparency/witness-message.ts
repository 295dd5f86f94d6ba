import { type ReadCheckpoint, checkpointIn } from './checkpoint.js';
import { isHash } from './merkle-hash.js';
import { MAX_PROOF_HASHES } from './merkle-proof.js';
import { hashLines, readHashLines, splitHead } from './note-head.js';
import {
  formatNote,
  MAX_NOTE_BYTES,
  type NoteSignature,
  parseSignedNote,
  readSignatureLines,
  signatureLine,
  type SignedNote,
  SignedNoteError,
} from './signed-note.js';
import { isCount, readDecimal, strictText, type TextFault, utf8 } from './strict-text.js';

/** Why a message between a log and a witness was refused. Closed. */
export type WitnessMessageReason =
  | TextFault
  | 'no_blank_line'
  | 'old_size'
  | 'proof_line'
  | 'too_many_proof_lines'
  | 'note'
  | 'checkpoint'
  | 'size'
  | 'signature_lines';

/** A message that has not the form of tlog-witness: as a request, it is answered with 400. */
export class WitnessMessageError extends Error {
  override readonly name = 'WitnessMessageError';

  constructor(
    readonly reason: WitnessMessageReason,
    options?: ErrorOptions,
  ) {
    super(`witness message refused: ${reason}`, options);
  }
}

/** The request of `add-checkpoint`. `proof` leads from `oldSize` to the checkpoint, and is empty from 0. */
export interface AddCheckpoint {
  readonly oldSize: number;
  readonly proof: readonly Uint8Array[];
  readonly note: SignedNote;
}

/** As it was read. Nothing is verified: neither the signatures nor the proof, nor that `oldSize` is not above the size. */
export interface ReadAddCheckpoint extends AddCheckpoint {
  readonly checkpoint: ReadCheckpoint;
}

/** The content type of the answer 409, whose body is the size of the latest cosigned checkpoint. */
export const TLOG_SIZE_MEDIA_TYPE = 'text/x.tlog.size';

/** A note, 63 hashes and the old size. */
export const MAX_ADD_CHECKPOINT_BYTES = MAX_NOTE_BYTES + 4 * 1024;
/** Of the answer 200: as many signature lines as a note may have. */
export const MAX_SIGNATURE_LINES_BYTES = MAX_NOTE_BYTES;
/** Of the answer 409: a decimal and a newline. */
export const MAX_SIZE_BODY_BYTES = 32;

const OLD_PREFIX = 'old ';

const refuse = (reason: WitnessMessageReason): never => {
  throw new WitnessMessageError(reason);
};

/** The body of the request. Throws `WitnessMessageError`, or `SignedNoteError` for a note that has no form. */
export const encodeAddCheckpoint = ({ oldSize, proof, note }: AddCheckpoint): string => {
  if (!isCount(oldSize)) return refuse('old_size');
  if (!proof.every(isHash)) return refuse('proof_line');
  if (proof.length > MAX_PROOF_HASHES) return refuse('too_many_proof_lines');
  if (checkpointIn(note.text) === null) return refuse('checkpoint');
  return `${OLD_PREFIX}${oldSize}\n${hashLines(proof)}\n${formatNote(note)}`;
};

/** Reads the body of the request. Throws `WitnessMessageError`. */
export const parseAddCheckpoint = (body: Uint8Array): ReadAddCheckpoint => {
  const text = strictText(body, MAX_ADD_CHECKPOINT_BYTES, refuse);
  const { head, note: rest } = splitHead(text) ?? refuse('no_blank_line');
  const [oldLine = '', ...lines] = head;
  const oldSize = oldLine.startsWith(OLD_PREFIX) ? readDecimal(oldLine.slice(OLD_PREFIX.length)) : null;
  if (oldSize === null) return refuse('old_size');
  if (lines.length > MAX_PROOF_HASHES) return refuse('too_many_proof_lines');
  const proof = readHashLines(lines) ?? refuse('proof_line');
  const note = noteIn(rest);
  return { oldSize, proof, note, checkpoint: checkpointIn(note.text) ?? refuse('checkpoint') };
};

const noteIn = (text: string): SignedNote => {
  try {
    return parseSignedNote(utf8(text));
  } catch (error) {
    if (error instanceof SignedNoteError) throw new WitnessMessageError('note', { cause: error });
    throw error;
  }
};

/** The body of the answer 409. */
export const encodeTreeSize = (size: number): string => (isCount(size) ? `${size}\n` : refuse('size'));

/** Reads the body of the answer 409. Throws `WitnessMessageError`. */
export const parseTreeSize = (body: Uint8Array): number => {
  const text = strictText(body, MAX_SIZE_BODY_BYTES, refuse);
  if (!text.endsWith('\n')) return refuse('size');
  return readDecimal(text.slice(0, -1)) ?? refuse('size');
};

/** The body of the answer 200: one or more signature lines. */
export const encodeCosignatures = (signatures: readonly NoteSignature[]): string =>
  signatures.length === 0 ? refuse('signature_lines') : signatures.map(signatureLine).join('');

/**
 * Reads the body of the answer 200. Lines of unknown keys are among them: put beside the checkpoint, only those that a
 * known key verifies are kept. Throws `WitnessMessageError`.
 */
export const parseCosignatures = (body: Uint8Array): readonly NoteSignature[] => {
  const text = strictText(body, MAX_SIGNATURE_LINES_BYTES, refuse);
  try {
    return readSignatureLines(text);
  } catch (error) {
    if (error instanceof SignedNoteError) throw new WitnessMessageError('signature_lines', { cause: error });
    throw error;
  }
};
