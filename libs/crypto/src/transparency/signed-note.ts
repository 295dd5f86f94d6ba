import { bytesOfBase64, encodeBase64 } from './base64.js';
import { isKeyName } from './key-name.js';
import { hasControlCharacter, strictText, type TextFault, utf8 } from './strict-text.js';

/**
 * Why bytes are no signed note, or none that may be read. Closed. The first ones say that it has not the form;
 * `bad_signature` that a line of a known key does not verify, which makes the whole note malformed; `unsigned` that no
 * known key signed it.
 */
export type SignedNoteReason =
  TextFault | 'no_signatures' | 'signature_line' | 'too_many_signatures' | 'bad_signature' | 'unsigned';

/** A note that must be ignored. The message holds nothing of it. */
export class SignedNoteError extends Error {
  override readonly name = 'SignedNoteError';

  constructor(readonly reason: SignedNoteReason) {
    super(`signed note refused: ${reason}`);
  }
}

/**
 * One signature line. `keyName` and `keyId` together name the key and the algorithm; `signature` is what stands behind
 * the key id, of at least one byte. It is the word of whoever wrote the note, until a verifier has accepted it.
 */
export interface NoteSignature {
  readonly keyName: string;
  /** The uint32 that the first four bytes are, in big-endian order. */
  readonly keyId: number;
  readonly signature: Uint8Array;
}

/** A note as it was read. `text` includes its final newline, and must be ignored until `openNote` or a policy has judged it. */
export interface SignedNote {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** A key that somebody trusts. `verify` never throws: bytes of any length that are no signature are not valid. */
export interface NoteVerifier {
  readonly keyName: string;
  readonly keyId: number;
  verify(text: string, signature: Uint8Array): boolean;
}

/** A key that signs notes. `sign` gives the bytes that stand behind the key id. */
export interface NoteSigner {
  readonly keyName: string;
  readonly keyId: number;
  sign(text: string): Uint8Array;
}

/** A line that verified, and the known key that it verified with. */
export interface VerifiedSignature<Verifier extends NoteVerifier = NoteVerifier> {
  readonly verifier: Verifier;
  readonly signature: NoteSignature;
}

/**
 * Room for 64 cosignatures of 2,420 bytes and for the log's own. The text demands that 16 signatures of nearly 5 kB are
 * read, which 16 KiB would not hold.
 */
export const MAX_NOTE_BYTES = 256 * 1024;
/** Of all keys, known or not: lines of unknown keys cost no verification. */
export const MAX_NOTE_SIGNATURES = 128;

/** Em dash and space: how every signature line begins. */
const LINE_PREFIX = '\u2014 ';
const LINE_PATTERN = /^\u2014 ([^ ]+) ([^ ]+)$/;
const KEY_ID_BYTES = 4;

/**
 * Reads the form of a note and judges no signature. The text is separated from the signatures by the last empty line;
 * behind it stand signature lines only, each of which ends in a newline. Throws `SignedNoteError`.
 */
export const parseSignedNote = (bytes: Uint8Array): SignedNote => {
  const whole = strictText(bytes, MAX_NOTE_BYTES, refuse);
  const blank = whole.lastIndexOf('\n\n');
  if (blank === -1) return refuse('no_signatures');
  return { text: whole.slice(0, blank + 1), signatures: readSignatureLines(whole.slice(blank + 2)) };
};

/** Reads one or more signature lines, as they end a note and as a witness answers. Throws `SignedNoteError`. */
export const readSignatureLines = (text: string): readonly NoteSignature[] => {
  if (text === '') return refuse('no_signatures');
  if (!text.endsWith('\n')) return refuse('signature_line');
  const lines = text.slice(0, -1).split('\n');
  if (lines.length > MAX_NOTE_SIGNATURES) return refuse('too_many_signatures');
  return lines.map((line) => readSignatureLine(line) ?? refuse('signature_line'));
};

const refuse = (reason: SignedNoteReason): never => {
  throw new SignedNoteError(reason);
};

const readSignatureLine = (line: string): NoteSignature | null => {
  const [, keyName = '', encoded = ''] = LINE_PATTERN.exec(line) ?? [];
  if (!isKeyName(keyName)) return null;
  const bytes = bytesOfBase64(encoded, MAX_NOTE_BYTES);
  if (bytes === null || bytes.byteLength <= KEY_ID_BYTES) return null;
  const keyId = new DataView(bytes.buffer, bytes.byteOffset, KEY_ID_BYTES).getUint32(0);
  return { keyName, keyId, signature: bytes.slice(KEY_ID_BYTES) };
};

/** A signature line with its newline: em dash, space, key name, space, base64 of key id and signature. */
export const signatureLine = ({ keyName, keyId, signature }: NoteSignature): string => {
  if (!isKeyName(keyName) || signature.byteLength === 0) return refuse('signature_line');
  const bytes = new Uint8Array(KEY_ID_BYTES + signature.byteLength);
  new DataView(bytes.buffer).setUint32(0, keyId);
  bytes.set(signature, KEY_ID_BYTES);
  return `${LINE_PREFIX}${keyName} ${encodeBase64(bytes)}\n`;
};

/** The one text of a note: what `parseSignedNote` read comes out byte for byte. Throws `SignedNoteError`. */
export const formatNote = ({ text, signatures }: SignedNote): string => {
  if (!text.isWellFormed()) return refuse('utf8');
  if (hasControlCharacter(text)) return refuse('control_character');
  if (!text.endsWith('\n') || signatures.length === 0) return refuse('no_signatures');
  if (signatures.length > MAX_NOTE_SIGNATURES) return refuse('too_many_signatures');
  const note = `${text}\n${signatures.map(signatureLine).join('')}`;
  return utf8(note).byteLength > MAX_NOTE_BYTES ? refuse('too_large') : note;
};

/** Signs a text with each key, in their order. */
export const signNote = (text: string, signers: readonly NoteSigner[]): SignedNote => ({
  text,
  signatures: signers.map((signer) => signatureOf(text, signer)),
});

/** What one key says about a text. */
export const signatureOf = (text: string, signer: NoteSigner): NoteSignature => ({
  keyName: signer.keyName,
  keyId: signer.keyId,
  signature: signer.sign(text),
});

/** What known keys say about a note. `failed` holds lines of known keys that do not verify: one makes the note malformed. */
export interface NoteJudgement<Verifier extends NoteVerifier = NoteVerifier> {
  readonly verified: readonly VerifiedSignature<Verifier>[];
  readonly failed: readonly NoteSignature[];
}

/**
 * Judges every line whose name **and** id are those of a known key, and ignores all others. Key ids have four bytes, so
 * two known keys may share both: a line counts for the one that it verifies with. A line that stands twice is judged once;
 * several lines of one key are several statements, and all must verify.
 */
export const judgeNote = <Verifier extends NoteVerifier>(
  note: SignedNote,
  verifiers: readonly Verifier[],
): NoteJudgement<Verifier> => {
  const verified: VerifiedSignature<Verifier>[] = [];
  const failed: NoteSignature[] = [];
  const judged = new Set<string>();
  for (const signature of note.signatures) {
    const known = verifiers.filter(({ keyName, keyId }) => keyName === signature.keyName && keyId === signature.keyId);
    if (known.length === 0) continue;
    const line = signatureLine(signature);
    if (judged.has(line)) continue;
    judged.add(line);
    const accepting = known.filter((verifier) => verifier.verify(note.text, signature.signature));
    for (const verifier of accepting) verified.push({ verifier, signature });
    if (accepting.length === 0) failed.push(signature);
  }
  return { verified, failed };
};

/**
 * Reads a note that at least one known key signed, and none falsely. Throws `SignedNoteError`: only what this returns may
 * be used.
 */
export const openNote = <Verifier extends NoteVerifier>(
  bytes: Uint8Array,
  verifiers: readonly Verifier[],
): SignedNote & { readonly verified: readonly VerifiedSignature<Verifier>[] } => {
  const note = parseSignedNote(bytes);
  const { verified, failed } = judgeNote(note, verifiers);
  if (failed.length > 0) return refuse('bad_signature');
  return verified.length === 0 ? refuse('unsigned') : { ...note, verified };
};
