import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { bytesOf, logKey, noteOf, reasonOf } from '../testing/given-witnessed.js';
import { knownKey } from './note-key.js';
import {
  formatNote,
  judgeNote,
  MAX_NOTE_BYTES,
  MAX_NOTE_SIGNATURES,
  type NoteVerifier,
  openNote,
  parseSignedNote,
  signatureLine,
  SignedNoteError,
  signNote,
} from './signed-note.js';
import { parseVkey } from './vkey.js';

// The two notes of the text, byte for byte.
const QUASIMODO = `Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
`;
const EXAMPLE_VKEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const EXAMPLE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;

const example = knownKey(parseVkey(EXAMPLE_VKEY));
const refusal = (text: string | Uint8Array): string =>
  reasonOf(SignedNoteError, () => parseSignedNote(typeof text === 'string' ? bytesOf(text) : text));
const opening = (bytes: Uint8Array, ...keys: readonly NoteVerifier[]): string =>
  reasonOf(SignedNoteError, () => openNote(bytes, keys));

describe('the examples of signed-note', () => {
  it('the verifier key verifies the note', () => {
    const { text, verified } = openNote(bytesOf(EXAMPLE), [example]);
    expect(text).toBe('This is an example message.\n');
    expect(verified.map(({ verifier }) => verifier)).toEqual([example]);
  });

  it('the text is separated from the signatures by the last empty line', () => {
    const note = parseSignedNote(bytesOf(QUASIMODO));
    expect(note.text.split('\n')).toHaveLength(5);
    expect(note.text.endsWith('ed è subito sera.\n')).toBe(true);
    expect(note.signatures[0]?.keyName).toBe('quasimodo.example/salvatore');
    expect(note.signatures[0]?.keyId).toBe(0x367ba04b);
    expect(note.signatures[0]?.signature).toHaveLength(64);
  });

  it('come out byte for byte', () => {
    for (const text of [QUASIMODO, EXAMPLE]) expect(formatNote(parseSignedNote(bytesOf(text)))).toBe(text);
  });
});

describe('the form of a signed note', () => {
  const LINE = EXAMPLE.slice(EXAMPLE.indexOf('—'));
  const encoded = LINE.slice('— example.com/foo '.length, -1);

  it.each([
    ['nothing', '', 'no_signatures'],
    ['no blank line', `text\n${LINE}`, 'no_signatures'],
    ['no signature line', 'text\n\n', 'no_signatures'],
    ['no text', LINE, 'no_signatures'],
    ['an empty line behind the signatures', `${EXAMPLE}\n`, 'no_signatures'],
    ['no newline at the end', EXAMPLE.slice(0, -1), 'signature_line'],
    ['text behind the signatures', `${EXAMPLE}more\n`, 'signature_line'],
    ['a hyphen for the em dash', EXAMPLE.replace('—', '-'), 'signature_line'],
    ['an en dash', EXAMPLE.replace('—', '–'), 'signature_line'],
    ['no space behind the dash', EXAMPLE.replace('— ', '—'), 'signature_line'],
    ['two spaces', EXAMPLE.replace('foo ', 'foo  '), 'signature_line'],
    ['a space at the end', EXAMPLE.replace('=\n', '= \n'), 'signature_line'],
    ['a name with a plus', EXAMPLE.replace('com/foo', 'com+foo'), 'signature_line'],
    ['a name with a space of Unicode', EXAMPLE.replace('com/foo', 'com/\u2003foo'), 'signature_line'],
    ['a name with U+0085', EXAMPLE.replace('com/foo', 'com/\u0085foo'), 'signature_line'],
    ['a carriage return', EXAMPLE.replaceAll('\n', '\r\n'), 'control_character'],
    ['NUL', EXAMPLE.replace('example', 'exam\0ple'), 'control_character'],
    ['a tab', EXAMPLE.replace('is an', 'is\tan'), 'control_character'],
    ['a key id alone', EXAMPLE.replace(encoded, 'Uw2QOg=='), 'signature_line'],
    ['no padding', EXAMPLE.replace('yaQM=', 'yaQM'), 'signature_line'],
    ['bits behind the last byte', EXAMPLE.replace('yaQM=', 'yaQN='), 'signature_line'],
    ['base64url', EXAMPLE.replace(encoded, encoded.replaceAll('+', '-').replace('Uw2Q', '_w2Q')), 'signature_line'],
    ['a byte order mark before the line', EXAMPLE.replace('— ', '\ufeff— '), 'signature_line'],
  ])('%s', (_, text, reason) => {
    expect(refusal(text)).toBe(reason);
  });

  it('bytes that are not UTF-8', () => {
    const bytes = bytesOf(EXAMPLE);
    expect(refusal(bytes.with(0, 0xff))).toBe('utf8');
    expect(refusal(Uint8Array.of(...bytesOf('text\n\n— a '), 0xed, 0xa0, 0x80))).toBe('utf8');
  });

  it('every truncation is refused', () => {
    const bytes = bytesOf(EXAMPLE);
    for (let end = 0; end < bytes.byteLength; end += 1) expect(refusal(bytes.subarray(0, end))).not.toBe('accepted');
  });

  it('16 signatures of 5 kB are read, 128 in all, and no larger note', () => {
    const line = (size: number): string => signatureLine({ keyName: 'a', keyId: 1, signature: new Uint8Array(size) });
    expect(refusal(`text\n\n${line(5_000).repeat(16)}`)).toBe('accepted');
    expect(refusal(`text\n\n${line(1).repeat(MAX_NOTE_SIGNATURES)}`)).toBe('accepted');
    expect(refusal(`text\n\n${line(1).repeat(MAX_NOTE_SIGNATURES + 1)}`)).toBe('too_many_signatures');
    expect(refusal(new Uint8Array(MAX_NOTE_BYTES + 1))).toBe('too_large');
  });

  it('a byte order mark, U+007F and empty lines are text', () => {
    const text = '\ufeff\n\n\u007f\n';
    expect(openNote(noteOf(text, logKey()), [knownKey(logKey().vkey)]).text).toBe(text);
  });

  it('what is written is read back (property)', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll(/[\0-\x1f]/g, ''));
    const signature = fc.record({
      keyName: fc.constantFrom('a', 'example.com/é', '名'),
      keyId: fc.nat({ max: 0xffff_ffff }),
      signature: fc.uint8Array({ minLength: 1, maxLength: 80 }),
    });
    const note = fc.record({
      text: fc.array(line, { minLength: 1 }).map((lines) => `${lines.join('\n')}\n`),
      signatures: fc.array(signature, { minLength: 1, maxLength: 5 }),
    });
    fc.assert(
      fc.property(note, (given) => {
        expect(parseSignedNote(bytesOf(formatNote(given)))).toEqual(given);
      }),
    );
  });

  it('what would not be read back is not written', () => {
    const signatures = signNote('text\n', [logKey()]).signatures;
    const writing = (text: string): string => reasonOf(SignedNoteError, () => formatNote({ text, signatures }));
    expect(writing('text')).toBe('no_signatures');
    expect(writing('text\r\n')).toBe('control_character');
    expect(writing('\ud800\n')).toBe('utf8');
    expect(writing(`${'a'.repeat(MAX_NOTE_BYTES)}\n`)).toBe('too_large');
    expect(reasonOf(SignedNoteError, () => formatNote({ text: 'text\n', signatures: [] }))).toBe('no_signatures');
  });
});

describe('the signatures of a note', () => {
  const one = logKey('one.example', 'one');
  const two = logKey('two.example', 'two');
  const keys = [one, two].map(({ vkey }) => knownKey(vkey));

  it('of unknown keys are ignored, also with the name or the id of a known one', () => {
    const other = logKey('one.example', 'another key');
    expect(opening(noteOf('text\n', other, one), ...keys)).toBe('accepted');
    const sameId = { ...other, keyName: 'three.example', keyId: one.keyId };
    expect(opening(noteOf('text\n', sameId, one), ...keys)).toBe('accepted');
  });

  it('of no known key: the note is refused', () => {
    expect(opening(noteOf('text\n', logKey('one.example', 'another key')), ...keys)).toBe('unsigned');
    expect(opening(noteOf('text\n', one))).toBe('unsigned');
  });

  it('of a known key that does not verify: the note is malformed, whoever else signed it', () => {
    const forged = { ...one, sign: () => new Uint8Array(64) };
    expect(opening(noteOf('text\n', forged, two), ...keys)).toBe('bad_signature');
    expect(opening(noteOf('text\n', { ...one, sign: () => new Uint8Array(1) }, two), ...keys)).toBe('bad_signature');
  });

  it('one that is good does not save a second line of its key', () => {
    const forged = { ...one, sign: () => new Uint8Array(64) };
    expect(opening(noteOf('text\n', one, forged), ...keys)).toBe('bad_signature');
  });

  it('a line that stands twice is one signature, and judged once', () => {
    let judged = 0;
    const counting = { ...keys[0]!, verify: (): boolean => (judged += 1) > 0 };
    const note = parseSignedNote(noteOf('text\n', one, one, one));
    expect(note.signatures).toHaveLength(3);
    expect(judgeNote(note, [counting]).verified).toHaveLength(1);
    expect(judged).toBe(1);
  });

  it('of two known keys with one name and id, the one that verifies', () => {
    const collision = { ...keys[1]!, keyName: one.keyName, keyId: one.keyId };
    const { verified, failed } = judgeNote(parseSignedNote(noteOf('text\n', one)), [collision, keys[0]!]);
    expect(verified.map(({ verifier }) => verifier)).toEqual([keys[0]]);
    expect(failed).toEqual([]);
  });

  it('cover every byte of the text', () => {
    const text = 'first\n\nlast\n';
    const note = signNote(text, [one]);
    for (const other of ['first\n\nlast\n\n', 'first\nlast\n', 'First\n\nlast\n']) {
      expect(opening(bytesOf(formatNote({ ...note, text: other })), ...keys)).toBe('bad_signature');
    }
  });
});
