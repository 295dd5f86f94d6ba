/**
 * Notes, keys and cosignatures in two languages: tlog.py was written from the texts of C2SP and RFC 6962 alone, before our
 * code was read. Each makes what the other judges.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  CheckpointError,
  encodeBase64url,
  isKeyName,
  knownKey,
  openNote,
  parseCheckpoint,
  parseVkey,
  sha256,
  SIGNATURE_TYPE,
  SignedNoteError,
  timestampOf,
  VkeyError,
} from '#libs/crypto';

import { flipped } from '../../libs/crypto/src/testing/attacked-bundle.js';
import {
  AT,
  bytesOf,
  checkpointOf,
  hexOf,
  logKey,
  noteOf,
  ORIGIN,
  pqWitness,
  reasonOf,
  vkeyText,
  witness,
} from '../../libs/crypto/src/testing/given-witnessed.js';
import { signer } from './given-tlog.js';
import { bytesIn, HAS_PYTHON, PYTHON_HAS_ML_DSA, TlogProcess } from './tlog-process.js';

describe.skipIf(!HAS_PYTHON)('the Python transparency log (needs python3 with cryptography)', () => {
  let python: TlogProcess;
  beforeAll(() => {
    python = new TlogProcess();
  });
  afterAll(() => python.end());

  /** What each of both says of a note: null where it opens. */
  const ourWord = (note: Uint8Array, vkeys: readonly string[]): string | null => {
    const reason = reasonOf(SignedNoteError, () => openNote(note, vkeys.map(parseVkey).map(knownKey)));
    return reason === 'accepted' ? null : reason;
  };
  const bothOpen = async (notes: readonly Uint8Array[], vkeys: readonly string[]): Promise<readonly boolean[]> => {
    const theirs = await python.askEach('read_notes', { notes, vkeys });
    const opens = notes.map((note, index) => ({
      note: hexOf(note),
      ours: ourWord(note, vkeys),
      theirs: theirs[index],
    }));
    expect(opens.filter(({ ours, theirs: other }) => (ours === null) !== (other === null))).toEqual([]);
    return opens.map(({ ours }) => ours === null);
  };

  describe('notes', () => {
    const text = 'Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n';
    const log = signer(ORIGIN, 'log');

    it('a key of a seed has one vkey', async () => {
      expect(await python.askText('signer_vkey', log)).toBe(vkeyText(logKey()));
      expect(await python.askText('signer_vkey', signer('w.example', 'w', 'ed25519Cosignature'))).toBe(
        vkeyText(witness('w.example', 'w')),
      );
    });

    it('a signed note is the same bytes, and each opens the one of the other', async () => {
      const ours = noteOf(text, logKey());
      const theirs = await python.askBytes('make_note', { text, signers: [log] });
      expect(Buffer.from(theirs)).toEqual(Buffer.from(ours));
      expect(openNote(theirs, [knownKey(logKey().vkey)]).text).toBe(text);
      const vkey = vkeyText(logKey());
      expect(await python.ask('read_note', { note: ours, vkeys: [vkey] })).toEqual({ text, verified: [[vkey, 0]] });
    });

    it('a note of one line is refused by both with any bit turned', async () => {
      const note = noteOf(text, logKey());
      const turned = Array.from({ length: note.length }, (_, at) => flipped(Buffer.from(note), at * 8 + (at % 8)));
      const opened = await bothOpen(turned, [vkeyText(logKey())]);
      expect(opened.filter(Boolean)).toEqual([]);
    });

    it('a note of three lines is judged alike with any bit turned, and cut anywhere', async () => {
      const note = Buffer.from(noteOf(checkpointOf(7), logKey(), witness('w.example'), witness('unknown.example')));
      const turned = Array.from({ length: note.length * 3 }, (_, at) => flipped(note, at * 3 - (at % 3)));
      const cut = Array.from({ length: note.length }, (_, end) => note.subarray(0, end));
      const opened = await bothOpen([...turned, ...cut], [vkeyText(logKey()), vkeyText(witness('w.example'))]);
      // A bit in the line of the unknown key, or one that makes a known key another, changes nothing.
      expect(new Set(opened)).toEqual(new Set([true, false]));
    });

    it('lines of unknown keys are ignored, a line of a known key that fails makes the note malformed', async () => {
      const known = [vkeyText(logKey())];
      const [head = '', own = ''] = Buffer.from(noteOf(text, logKey())).toString().split('\u2014');
      const lineOf = (name: string, payload: Uint8Array) =>
        `\u2014 ${name} ${Buffer.from(payload).toString('base64')}\n`;
      const ownBytes = Buffer.from(own.trim().split(' ')[1] ?? '', 'base64');
      const wrong = Buffer.concat([ownBytes.subarray(0, 4), Buffer.alloc(64, 7)]);
      const verdict = (lines: string) => bothOpen([bytesOf(`${head}${lines}`)], known);
      const good = `\u2014${own}`;
      expect(await verdict(good + lineOf('other.example', wrong))).toEqual([true]);
      expect(await verdict(good + lineOf(ORIGIN, Buffer.concat([Buffer.alloc(4), wrong])))).toEqual([true]);
      expect(await verdict(good + lineOf(ORIGIN, wrong))).toEqual([false]);
      expect(await verdict(lineOf(ORIGIN, wrong) + good)).toEqual([false]);
      expect(await verdict(good + lineOf(ORIGIN, ownBytes.subarray(0, 40)))).toEqual([false]);
      expect(await verdict(good + good)).toEqual([true]);
      expect(await verdict(lineOf('other.example', wrong))).toEqual([false]);
    });

    it('the form is judged alike', async () => {
      const signed = Buffer.from(noteOf(text, logKey())).toString();
      const cut = signed.lastIndexOf('\n\n') + 2;
      const [body, line] = [signed.slice(0, cut), signed.slice(cut)];
      const forms = [
        `${body}\n${line}`,
        `${body.slice(0, -1)}${line}`,
        `\n${line}`,
        `\n\n${line}`,
        line,
        signed.slice(0, -1),
        `${signed}\n`,
        signed.replaceAll('\n', '\r\n'),
        signed.replace('sera', 'se\tra'),
        signed.replace('sera', 'se\u007fra'),
        signed.replace('\u2014 ', '- '),
        signed.replace('\u2014 ', '\u2014  '),
        signed.replace('\u2014 ', '\u2014'),
        `${body}${line.slice(0, -1)} \n`,
        `${body}${line.trimEnd().replaceAll('=', '')}\n`,
        `${body}${line.trimEnd()}=\n`,
        `${signed}\u2014 a+b AAAAAAA=\n`,
        `${signed}\u2014 a\u00a0b AAAAAAA=\n`,
        `${signed}\u2014 a\u0085b AAAAAAA=\n`,
        `${signed}\u2014 a\ufeffb AAAAAAA=\n`,
        `${signed}\u2014 a\u200bb AAAAAAA=\n`,
        `${signed}\u2014  AAAAAAA=\n`,
        `${signed}\u2014 a AAAAAA==\n`,
        `${signed}\u2014 a AAAAAAB=\n`,
        `\ufeff${signed}`,
        `${signed}${'\u2014 a AAAAAAA=\n'.repeat(15)}`,
      ];
      await bothOpen([...forms.map(bytesOf), Buffer.concat([bytesOf(signed), Buffer.of(0xff)])], [vkeyText(logKey())]);
    });

    it('a control character in a text makes it no note, however well it is signed; only a newline does not', async () => {
      const notes: Uint8Array[] = [];
      for (let code = 0; code <= 0x20; code += 1) {
        const controlled = `a${String.fromCharCode(code)}b\n`;
        notes.push(await python.askBytes('make_note', { text: controlled, signers: [log] }));
      }
      const opened = await bothOpen(notes, [vkeyText(logKey())]);
      expect([...opened.keys()].filter((code) => opened[code])).toEqual([0x0a, 0x20]);
    });

    it('every character is judged alike as part of a key name', async () => {
      const names = Array.from({ length: 0x10000 }, (_, code) => code)
        .filter((code) => code >= 0x20 && (code < 0xd800 || code > 0xdfff))
        .map((code) => `a${String.fromCharCode(code)}b`);
      const theirs = await python.askEach('key_names', { names });
      expect(names.filter((name, index) => isKeyName(name) !== theirs[index])).toEqual([]);
    });

    it('vkeys are judged alike', async () => {
      const good = vkeyText(witness('w.example'));
      const [name = '', id = '', material = ''] = good.split('+', 2).concat(good.split('+').slice(2).join('+'));
      const short = Buffer.from(bytesIn(material).subarray(0, 32)).toString('base64');
      const texts = [
        good,
        `${name}+${id.toUpperCase()}+${material}`,
        `${name}+${id}+${material.replaceAll('=', '')}`,
        `other.example+${id}+${material}`,
        `+${id}+${material}`,
        `a b+${id}+${material}`,
        `${name}+00000000+${material}`,
        `${name}+${id.slice(1)}+${material}`,
        `${name}+${id}`,
        `${name}+${id}+`,
        `${name}+${id}+${short}`,
        ` ${good}`,
        `${good}\n`,
        good.replace('+B', '+A'),
      ];
      const theirs = await python.askEach('vkeys', { texts });
      const ours = texts.map((text) => reasonOf(VkeyError, () => parseVkey(text)) === 'accepted');
      expect(ours).toEqual(texts.map((text) => text === good));
      expect(theirs.map((refusal) => refusal === null)).toEqual(ours);
    });

    it('checkpoints are judged alike', async () => {
      const [origin = '', size = '', root = ''] = checkpointOf(7).split('\n');
      const texts = [
        [origin, size, root],
        [origin, size, root, 'extension'],
        [origin, size, root, 'a', ' '],
        ['an origin + spaces', size, root],
        [origin, '0', root],
        ['', size, root],
        [origin, '07', root],
        [origin, '+7', root],
        [origin, '-7', root],
        [origin, '7 ', root],
        [origin, '٧', root],
        [origin, '', root],
        [origin, '99999999999999999999', root],
        [origin, size, root.slice(0, -1)],
        // Its last character says bits that no byte holds.
        [origin, size, `${root.slice(0, -2)}B=`],
        [origin, size, encodeBase64url(sha256('x'))],
        [origin, size, root, ''],
        [origin, size],
      ].map((lines) => `${lines.join('\n')}\n`);
      const theirs = await python.askEach('checkpoints', { texts: [...texts, texts[0]?.trimEnd()] });
      const ours = [...texts, texts[0]?.trimEnd() ?? ''].map(
        (text) => reasonOf(CheckpointError, () => parseCheckpoint(text)) === 'accepted',
      );
      expect(theirs.map((refusal) => refusal === null)).toEqual(ours);
      expect(ours.filter(Boolean)).toHaveLength(5);
    });
  });

  it('the example of signed-note opens in both', async () => {
    const vkey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
    const signature = 'Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=';
    const note = bytesOf(`This is an example message.\n\n\u2014 example.com/foo ${signature}\n`);
    expect(await bothOpen([note], [vkey])).toEqual([true]);
  });

  describe('what the texts leave open, and ours reads more narrowly', () => {
    it('a size above 2^53-1', async () => {
      const text = `${ORIGIN}\n9007199254740992\n${checkpointOf(7).split('\n')[2] ?? ''}\n`;
      expect(reasonOf(CheckpointError, () => parseCheckpoint(text))).toBe('size');
      expect(await python.askEach('checkpoints', { texts: [text] })).toEqual([null]);
    });

    it('a time above 2^53-1, which lies in the future of every reader', async () => {
      const far = { ...signer('w.example', 'w', 'ed25519Cosignature'), at: 2 ** 53 };
      const note = await python.askBytes('make_note', { text: checkpointOf(7), signers: [far] });
      const vkeys = [vkeyText(witness('w.example', 'w'))];
      expect(ourWord(note, vkeys)).toBe('bad_signature');
      expect(await python.askEach('read_notes', { notes: [note], vkeys })).toEqual([null]);
    });

    it('an Ed25519 key of small order, under which anybody can sign', async () => {
      const point = Buffer.concat([Buffer.of(SIGNATURE_TYPE.ed25519, 1), Buffer.alloc(31)]);
      const id = Buffer.from(sha256(Buffer.concat([bytesOf('a.example\n'), point]))).toString('hex', 0, 4);
      const text = `a.example+${id}+${point.toString('base64')}`;
      expect(reasonOf(VkeyError, () => parseVkey(text))).toBe('public_key');
      expect(await python.askEach('vkeys', { texts: [text] })).toEqual([null]);
    });
  });

  describe('cosignatures', () => {
    const text = checkpointOf(7);
    const extended = `${text}an extension line\n`;
    const kinds = [
      ['Ed25519', 'ed25519Cosignature', witness, true],
      ['ML-DSA-44', 'mlDsa44Cosignature', pqWitness, PYTHON_HAS_ML_DSA],
    ] as const;

    describe.each(kinds)('%s', (_name, type, cosigner, isThere) => {
      const given = { ...signer('w.example', 'w', type), at: AT };
      const { vkey } = cosigner('w.example', 'w');
      const known = [vkeyText({ vkey })];

      it.skipIf(!isThere).each([
        ['', text],
        [' over an extension line', extended],
      ])('each verifies the one of the other%s, with its time', async (_over, body) => {
        const theirs = await python.askBytes('make_note', { text: body, signers: [given] });
        const [opened] = openNote(theirs, [knownKey(vkey)]).verified;
        expect(timestampOf(opened?.signature.signature ?? new Uint8Array())).toBe(AT);
        const ours = noteOf(body, cosigner('w.example', 'w'));
        expect(await python.ask('read_note', { note: ours, vkeys: known })).toEqual({
          text: body,
          verified: [[known[0], AT]],
        });
      });

      it.skipIf(!isThere)('is refused by both with bits of the line turned, and over another checkpoint', async () => {
        const note = Buffer.from(noteOf(text, cosigner('w.example', 'w')));
        const line = note.subarray(Buffer.byteLength(`${text}\n`));
        const step = type === 'mlDsa44Cosignature' ? 29 : 1;
        const places = Array.from({ length: note.length }, (_, at) => at).filter((at) => at % step === 0 || at < 16);
        const moved = [checkpointOf(8), checkpointOf(7, 'other.example/log'), 'no checkpoint\n'].map((body) =>
          Buffer.concat([bytesOf(`${body}\n`), line]),
        );
        const turned = places.map((at) => flipped(note, at * 8 + (at % 8)));
        const opened = await bothOpen([...turned, ...moved], known);
        expect(opened.filter(Boolean)).toEqual([]);
      });

      it.skipIf(!isThere)('of no time is a cosignature, of a time beyond 2^63-1 none', async () => {
        const note = await python.askBytes('make_note', { text, signers: [{ ...given, at: 0 }] });
        expect(await bothOpen([note], known)).toEqual([true]);
        // Python's own numbers go on: JSON writes this one whole.
        const beyond = await python.askBytes('make_note', { text, signers: [{ ...given, at: 2 ** 63 }] });
        expect(await bothOpen([beyond], known)).toEqual([false]);
      });
    });

    it.skipIf(!PYTHON_HAS_ML_DSA)(
      'ML-DSA-44 covers no extension line and binds the name, Ed25519 the opposite',
      async () => {
        for (const [, type, cosigner, isMlDsa] of [
          ['', 'ed25519Cosignature', witness, false],
          ['', 'mlDsa44Cosignature', pqWitness, true],
        ] as const) {
          const note = Buffer.from(noteOf(text, cosigner('w.example', 'w')));
          const line = note.subarray(Buffer.byteLength(`${text}\n`));
          const own = vkeyText(cosigner('w.example', 'w'));
          expect(await bothOpen([Buffer.concat([bytesOf(`${extended}\n`), line])], [own])).toEqual([isMlDsa]);
          // The same key under another name, its key id mended.
          const other = await python.askText('signer_vkey', signer('v.example', 'w', type));
          const id = Buffer.from(other.split('+')[1] ?? '', 'hex');
          const encoded = line.toString().trim().split(' ')[2] ?? '';
          const renamed = Buffer.concat([id, Buffer.from(encoded, 'base64').subarray(4)]).toString('base64');
          const moved = bytesOf(`${text}\n\u2014 v.example ${renamed}\n`);
          expect(await bothOpen([moved], [other])).toEqual([!isMlDsa]);
        }
      },
    );
  });
});
