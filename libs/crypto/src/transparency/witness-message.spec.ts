import { describe, expect, it } from 'vitest';

import { bytesOf, checkpointOf, hexOf, leaves, logKey, noteOf, reasonOf, witness } from '../testing/given-witnessed.js';
import { rootOf } from './compact-range.js';
import { consistencyProof, hashesInMemory, isConsistent } from './merkle-proof.js';
import { knownKey } from './note-key.js';
import { judgeNote, parseSignedNote, signatureOf } from './signed-note.js';
import {
  encodeAddCheckpoint,
  encodeCosignatures,
  encodeTreeSize,
  MAX_ADD_CHECKPOINT_BYTES,
  parseAddCheckpoint,
  parseCosignatures,
  parseTreeSize,
  TLOG_SIZE_MEDIA_TYPE,
  WitnessMessageError,
} from './witness-message.js';

// The examples of tlog-witness, byte for byte.
const REQUEST = `old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=
`;
const RESPONSE = `— witness.example/w1 CMp+6LWBU0anHGH5aNDTJkH/gj79sG+T6+iP2ThYN5krrDJbR1HDnucjL39QsZTSvVjyQLrdk3DXDqI5G2HgLatVs0pWh6Up69HVOw==
— witness.example/w1 I7rEps0pvK2UqkS2gSpVUDhrhVtQV9lgF6pRrWAvjJHjyWpW7VcE3SiOlVlbQNt64vWhO+DlkL0+UfzuOBMh9ChdMkP1vi/lCAsmlw==
— witness.example/w2 AWui8Sk55XjYLOijihBjhqEH6nS1ndDymE0a+6idX7pLcnoB+dhnz0854aLZgrrKbYKA7nC3HNJhm/kWl7oJlqU3rXXvpysAdyP3wQ==
`;
const HASH = 'PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=';

const refusal = (text: string | Uint8Array): string =>
  reasonOf(WitnessMessageError, () => parseAddCheckpoint(typeof text === 'string' ? bytesOf(text) : text));

describe('add-checkpoint', () => {
  it('the request of the text comes out byte for byte', () => {
    const request = parseAddCheckpoint(bytesOf(REQUEST));
    expect(request).toMatchObject({ oldSize: 20_852_014, checkpoint: { size: 20_852_163 } });
    expect(request.proof.map((hash) => hexOf(hash).slice(0, 8))).toEqual([
      '3e544d0a',
      '8eb2590e',
      'e7ea4a95',
      'ffa59584',
    ]);
    expect(request.note.signatures.map(({ keyId }) => keyId)).toEqual([0x033de0ae, 0xa292ea05]);
    expect(encodeAddCheckpoint(request)).toBe(REQUEST);
  });

  it('a request that is made is read, and its proof verifies', async () => {
    const note = parseSignedNote(noteOf(checkpointOf(17), logKey()));
    const proof = await consistencyProof(hashesInMemory(leaves), 6, 17);
    const read = parseAddCheckpoint(bytesOf(encodeAddCheckpoint({ oldSize: 6, proof, note })));
    const { size: to, root: toRoot } = read.checkpoint;
    const fromRoot = rootOf(leaves.slice(0, 6));
    expect(isConsistent({ from: read.oldSize, to, fromRoot, toRoot, proof: read.proof })).toBe(true);
    expect(judgeNote(read.note, [knownKey(logKey().vkey)]).verified).toHaveLength(1);
  });

  it('from 0 there are no proof lines', () => {
    const text = `old 0\n\n${REQUEST.slice(REQUEST.indexOf('\n\n') + 2)}`;
    const request = parseAddCheckpoint(bytesOf(text));
    expect(request).toMatchObject({ oldSize: 0, proof: [] });
    expect(encodeAddCheckpoint(request)).toBe(text);
  });

  it('63 proof lines are read, and no more', () => {
    const withLines = (count: number): string =>
      REQUEST.replace(/\n[^]*?\n\n/, () => `\n${`${HASH}\n`.repeat(count)}\n`);
    expect(parseAddCheckpoint(bytesOf(withLines(63))).proof).toHaveLength(63);
    expect(refusal(withLines(64))).toBe('too_many_proof_lines');
    const request = parseAddCheckpoint(bytesOf(REQUEST));
    const long = { ...request, proof: Array.from({ length: 64 }, () => request.proof[0]!) };
    expect(reasonOf(WitnessMessageError, () => encodeAddCheckpoint(long))).toBe('too_many_proof_lines');
  });

  it.each([
    ['nothing', '', 'no_blank_line'],
    ['no blank line', REQUEST.replaceAll('\n\n', '\n'), 'no_blank_line'],
    ['no old size', REQUEST.slice(REQUEST.indexOf('\n') + 1), 'old_size'],
    ['an empty first line', `\n${REQUEST}`, 'old_size'],
    ['old in upper case', REQUEST.replace('old', 'Old'), 'old_size'],
    ['two spaces', REQUEST.replace('old ', 'old  '), 'old_size'],
    ['a leading zero', REQUEST.replace('old ', 'old 0'), 'old_size'],
    ['no number', REQUEST.replace('20852014', ''), 'old_size'],
    ['2^53', REQUEST.replace('20852014', '9007199254740992'), 'old_size'],
    ['a negative size', REQUEST.replace('20852014', '-1'), 'old_size'],
    ['a hash without padding', REQUEST.replace('kaw=', 'kaw'), 'proof_line'],
    ['a hash in a second spelling', REQUEST.replace('kaw=', 'kax='), 'proof_line'],
    ['a hash of 31 bytes', REQUEST.replace('DDpkaw=', 'DDpkQ=='), 'proof_line'],
    ['a space behind a hash', REQUEST.replace('kaw=', 'kaw= '), 'proof_line'],
    ['a second old size', REQUEST.replace('\n', '\nold 1\n'), 'proof_line'],
    ['carriage returns', REQUEST.replaceAll('\n', '\r\n'), 'control_character'],
    ['NUL', REQUEST.replace('sofa', 'so\0fa'), 'control_character'],
    ['no signature', REQUEST.slice(0, REQUEST.indexOf('— ')), 'note'],
    ['no newline at the end', REQUEST.slice(0, -1), 'note'],
    ['a note that is no checkpoint', REQUEST.replace('\n20852163', '\n020852163'), 'checkpoint'],
    ['a second blank line before the note', REQUEST.replace('\n\n', '\n\n\n'), 'checkpoint'],
  ])('%s is refused', (_, text, reason) => {
    expect(refusal(text)).toBe(reason);
  });

  it('what is huge or no UTF-8 is refused, and so is every truncation', () => {
    expect(refusal(new Uint8Array(MAX_ADD_CHECKPOINT_BYTES + 1))).toBe('too_large');
    expect(refusal(bytesOf(REQUEST).with(0, 0xff))).toBe('utf8');
    const bytes = bytesOf(REQUEST);
    const lines = REQUEST.lastIndexOf('— ');
    for (let end = 0; end < bytes.byteLength; end += 1) {
      // The first signature line alone is a whole request, too.
      if (end !== bytesOf(REQUEST.slice(0, lines)).byteLength)
        expect(refusal(bytes.subarray(0, end))).not.toBe('accepted');
    }
  });

  it('what would not be read is not written', () => {
    const request = parseAddCheckpoint(bytesOf(REQUEST));
    const writing = (change: object): string =>
      reasonOf(WitnessMessageError, () => encodeAddCheckpoint({ ...request, ...change }));
    expect(writing({ oldSize: -1 })).toBe('old_size');
    expect(writing({ proof: [new Uint8Array(31)] })).toBe('proof_line');
    expect(writing({ note: { ...request.note, text: 'text\n' } })).toBe('checkpoint');
  });
});

describe('answers', () => {
  it('409 tells a size', () => {
    expect(TLOG_SIZE_MEDIA_TYPE).toBe('text/x.tlog.size');
    expect(encodeTreeSize(20_852_014)).toBe('20852014\n');
    for (const size of [0, 7, Number.MAX_SAFE_INTEGER]) expect(parseTreeSize(bytesOf(encodeTreeSize(size)))).toBe(size);
    expect(reasonOf(WitnessMessageError, () => encodeTreeSize(1.5))).toBe('size');
  });

  it.each(['', '\n', '7', '07\n', '7\n\n', '7 \n', '-7\n', '7.0\n', '9007199254740992\n', '<html>\n'])(
    '409 with the body %j tells none',
    (body) => {
      expect(reasonOf(WitnessMessageError, () => parseTreeSize(bytesOf(body)))).toBe('size');
    },
  );

  it('409 with a body that is long or has a carriage return tells none', () => {
    expect(reasonOf(WitnessMessageError, () => parseTreeSize(bytesOf(`${'1'.repeat(32)}\n`)))).toBe('too_large');
    expect(reasonOf(WitnessMessageError, () => parseTreeSize(bytesOf('7\r\n')))).toBe('control_character');
  });

  it('200 of the text comes out byte for byte', () => {
    const signatures = parseCosignatures(bytesOf(RESPONSE));
    expect(signatures.map(({ keyName }) => keyName)).toEqual([
      'witness.example/w1',
      'witness.example/w1',
      'witness.example/w2',
    ]);
    expect(encodeCosignatures(signatures)).toBe(RESPONSE);
  });

  it.each([
    ['', 'signature_lines'],
    ['\n', 'signature_lines'],
    [RESPONSE.slice(0, -1), 'signature_lines'],
    [`${RESPONSE}\n`, 'signature_lines'],
    [`\n${RESPONSE}`, 'signature_lines'],
    ['ok\n', 'signature_lines'],
    [RESPONSE.replaceAll('\n', '\r\n'), 'control_character'],
  ])('200 with the body %.20j is refused', (body, reason) => {
    expect(reasonOf(WitnessMessageError, () => parseCosignatures(bytesOf(body)))).toBe(reason);
  });

  it('200 put beside the checkpoint gives what known keys have signed, and no more', () => {
    const text = checkpointOf(7);
    const [known, unknown] = [witness('w1'), witness('w2')];
    const answer = encodeCosignatures([known, unknown].map((signer) => signatureOf(text, signer)));
    const signatures = parseCosignatures(bytesOf(answer));
    const { verified, failed } = judgeNote({ text, signatures }, [knownKey(known.vkey)]);
    expect(verified.map(({ verifier }) => verifier.keyName)).toEqual(['w1']);
    expect(failed).toEqual([]);
    expect(judgeNote({ text: checkpointOf(8), signatures }, [knownKey(known.vkey)]).failed).toHaveLength(1);
    expect(reasonOf(WitnessMessageError, () => encodeCosignatures([]))).toBe('signature_lines');
  });
});
