import { bytesOfBase64, encodeBase64 } from './base64.js';
import { isHash, HASH_BYTES } from './merkle-hash.js';

/** What stands before a note in a proof or a request: lines, and behind the first empty one the note. */
export interface NoteWithHead {
  readonly head: readonly string[];
  readonly note: string;
}

/** Splits at the first empty line; null where there is none. */
export const splitHead = (text: string): NoteWithHead | null => {
  const blank = text.indexOf('\n\n');
  return blank === -1 ? null : { head: text.slice(0, blank).split('\n'), note: text.slice(blank + 2) };
};

/** One SHA-256 hash a line; null where a line is anything else. */
export const readHashLines = (lines: readonly string[]): readonly Uint8Array[] | null => {
  const hashes: Uint8Array[] = [];
  for (const line of lines) {
    const hash = bytesOfBase64(line, HASH_BYTES);
    if (hash === null || !isHash(hash)) return null;
    hashes.push(hash);
  }
  return hashes;
};

export const hashLines = (hashes: readonly Uint8Array[]): string =>
  hashes.map((hash) => `${encodeBase64(hash)}\n`).join('');
