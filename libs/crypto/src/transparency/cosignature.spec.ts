import { describe, expect, it } from 'vitest';

import { sha256, sha256Hex } from '../digest.js';
import { FOREIGN_COSIGNATURE } from '../testing/foreign-cosignature.js';
import { keyFrom } from '../testing/given-chain.js';
import { AT, bytesOf, checkpointOf, hexOf, ORIGIN, pqWitness, reasonOf, witness } from '../testing/given-witnessed.js';
import { parseCheckpoint } from './checkpoint.js';
import {
  CosignatureError,
  ed25519CosignedMessage,
  ed25519Cosignature,
  mlDsa44CosignedMessage,
  timestampOf,
} from './cosignature.js';
import { isMlDsa44Signed, MlDsa44SigningKey } from './ml-dsa-44.js';
import { knownKey, type SigningNoteKey } from './note-key.js';
import { formatNote, parseSignedNote, readSignatureLines, signatureLine, signatureOf } from './signed-note.js';
import { vkeyOf } from './vkey.js';

// The examples of tlog-cosignature, byte for byte.
const TEXT = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
`;
const EXAMPLE = `${TEXT}
— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
`;
const EXAMPLE_TIME = 1_679_315_147;

const bytesIn = (signer: SigningNoteKey, text: string): Uint8Array => signer.sign(text);
const flip = (bytes: Uint8Array, at: number): Uint8Array => bytes.with(at, bytes[at]! ^ 1);

describe('the examples of tlog-cosignature', () => {
  it('come out byte for byte, and the witness speaks at the time of the text', () => {
    const note = parseSignedNote(bytesOf(EXAMPLE));
    expect(formatNote(note)).toBe(EXAMPLE);
    expect(timestampOf(note.signatures[1]!.signature)).toBe(EXAMPLE_TIME);
    expect(note.signatures[1]!.signature).toHaveLength(72);
  });

  it('the message of an Ed25519 cosigner', () => {
    const message = ed25519CosignedMessage(TEXT, EXAMPLE_TIME);
    expect(new TextDecoder().decode(message)).toBe(`cosignature/v1\ntime 1679315147\n${TEXT}`);
  });

  it('the message of an ML-DSA-44 cosigner, as the structure says', () => {
    const message = mlDsa44CosignedMessage('witness.example/w1', parseCheckpoint(TEXT), EXAMPLE_TIME);
    expect(hexOf(message)).toBe(
      [
        '737562747265652f76310a00',
        `12${hexOf(bytesOf('witness.example/w1'))}`,
        '00000000641850cb',
        `1b${hexOf(bytesOf('example.com/behind-the-sofa'))}`,
        '0000000000000000',
        '00000000013e2dc3',
        '0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62',
      ].join(''),
    );
  });
});

describe('a cosignature of another implementation', () => {
  const key = new MlDsa44SigningKey(Uint8Array.from({ length: 32 }, (_, index) => index));
  const vkey = vkeyOf('witness.example/w1', 0x06, key.publicKey);
  const [signature] = readSignatureLines(FOREIGN_COSIGNATURE.line);

  it('is of the key that the seed gives here, under the id that is computed here', () => {
    expect(sha256Hex(key.publicKey)).toBe(FOREIGN_COSIGNATURE.publicKeySha256);
    expect(vkey.keyId.toString(16)).toBe(FOREIGN_COSIGNATURE.keyId);
    expect(signature?.keyId).toBe(vkey.keyId);
  });

  it('verifies, and its line comes out byte for byte', () => {
    expect(knownKey(vkey).verify(TEXT, signature!.signature)).toBe(true);
    expect(signatureLine(signature!)).toBe(FOREIGN_COSIGNATURE.line);
  });

  it('does not for another size', () => {
    expect(knownKey(vkey).verify(TEXT.replace('20852163', '20852164'), signature!.signature)).toBe(false);
  });
});

describe.each([
  { kind: 'Ed25519', signer: witness('witness.example/w1'), length: 72 },
  { kind: 'ML-DSA-44', signer: pqWitness('witness.example/w1'), length: 2_428 },
])('an $kind cosignature', ({ signer, length }) => {
  const text = checkpointOf(7);
  const key = knownKey(signer.vkey);
  const signature = bytesIn(signer, text);

  it('verifies, and begins with its time', () => {
    expect(signature).toHaveLength(length);
    expect(key.verify(text, signature)).toBe(true);
    expect(timestampOf(signature)).toBe(AT);
  });

  it('covers origin, size, root and time', () => {
    expect(key.verify(checkpointOf(8), signature)).toBe(false);
    expect(key.verify(text.replace('\n7\n', '\n8\n'), signature)).toBe(false);
    expect(key.verify(text.replace('org_1', 'org_2'), signature)).toBe(false);
    expect(key.verify(text, flip(signature, 7))).toBe(false);
    for (const at of [8, 40, length - 1]) expect(key.verify(text, flip(signature, at))).toBe(false);
  });

  it('of another length is none', () => {
    for (const bytes of [
      signature.slice(0, -1),
      Uint8Array.of(...signature, 0),
      new Uint8Array(0),
      new Uint8Array(8),
    ]) {
      expect(key.verify(text, bytes)).toBe(false);
    }
  });

  it('with a time above 2^53-1 is none', () => {
    expect(key.verify(text, signature.with(0, 0x80))).toBe(false);
    expect(key.verify(text, signature.with(1, 0x20))).toBe(false);
    expect(timestampOf(signature.with(1, 0x20))).toBeNull();
    expect(timestampOf(new Uint8Array(7))).toBeNull();
  });

  it('is made of nothing but a checkpoint', () => {
    expect(key.verify('text\n', signature)).toBe(false);
    expect(reasonOf(CosignatureError, () => signer.sign('text\n'))).toBe('checkpoint');
    expect(reasonOf(CosignatureError, () => signer.sign(text.slice(0, -1)))).toBe('checkpoint');
  });
});

describe('what a cosignature holds', () => {
  const text = checkpointOf(7);
  const extended = `${text}extension\n`;

  it('Ed25519: extension lines, but not the name of the witness', () => {
    const signer = witness('witness.example/w1', 'key');
    const signature = signer.sign(text);
    expect(knownKey(signer.vkey).verify(extended, signature)).toBe(false);
    expect(knownKey(signer.vkey).verify(extended, signer.sign(extended))).toBe(true);
    expect(knownKey(witness('witness.example/w2', 'key').vkey).verify(text, signature)).toBe(true);
  });

  it('ML-DSA-44: the name of the witness, but not extension lines', () => {
    const signer = pqWitness('witness.example/w1', 'key');
    const signature = signer.sign(text);
    expect(knownKey(signer.vkey).verify(extended, signature)).toBe(true);
    expect(knownKey(pqWitness('witness.example/w2', 'key').vkey).verify(text, signature)).toBe(false);
  });

  it('a note signature and a cosignature of one key are not each other', () => {
    const key = keyFrom('key');
    const asNote = key.sign(bytesOf(text));
    const timed = Uint8Array.of(...ed25519Cosignature(key, text, AT).subarray(0, 8), ...asNote);
    expect(knownKey(witness('w', 'key').vkey).verify(text, timed)).toBe(false);
  });

  it('a timed signature of a text that is no checkpoint is no cosignature', () => {
    const key = keyFrom('key');
    const timed = (of: string): Uint8Array =>
      Uint8Array.of(...ed25519Cosignature(key, text, AT).subarray(0, 8), ...key.sign(ed25519CosignedMessage(of, AT)));
    const verify = (of: string): boolean => knownKey(witness('w', 'key').vkey).verify(of, timed(of));
    expect(verify(text)).toBe(true);
    expect(verify('text\n')).toBe(false);
    expect(verify(text.replace('\n7\n', '\n07\n'))).toBe(false);
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 53])('none is made at %d', (timestamp) => {
    expect(reasonOf(CosignatureError, () => witness('w', 'key', timestamp).sign(text))).toBe('timestamp');
    expect(reasonOf(CosignatureError, () => pqWitness('w', 'key', timestamp).sign(text))).toBe('timestamp');
  });

  it('ML-DSA-44: names and origins of more than 255 bytes have no place in it', () => {
    const long = 'é'.repeat(128);
    const checkpoint = parseCheckpoint(text);
    expect(reasonOf(CosignatureError, () => mlDsa44CosignedMessage(long, checkpoint, AT))).toBe('name');
    expect(reasonOf(CosignatureError, () => mlDsa44CosignedMessage('', checkpoint, AT))).toBe('name');
    const other = { ...checkpoint, origin: long };
    expect(reasonOf(CosignatureError, () => mlDsa44CosignedMessage('w', other, AT))).toBe('origin');
    const signature = pqWitness('w', 'key').sign(text);
    expect(knownKey(pqWitness(long, 'key').vkey).verify(text, signature)).toBe(false);
    expect(knownKey(pqWitness('w', 'key').vkey).verify(text.replace(ORIGIN, long), signature)).toBe(false);
  });
});

describe('ML-DSA-44 keys', () => {
  const key = new MlDsa44SigningKey(sha256('seed'));

  it('show nothing of themselves in a log', () => {
    expect(JSON.stringify({ key })).toBe('{"key":"ml-dsa-44"}');
    expect(Object.keys(key)).toEqual([]);
  });

  it('come from 32 bytes, and give them back for their file alone', () => {
    expect(hexOf(key.toSeed())).toBe(hexOf(sha256('seed')));
    expect(() => new MlDsa44SigningKey(new Uint8Array(31))).toThrow(RangeError);
  });

  it('sign the same message differently each time, and both verify', () => {
    const message = bytesOf('message');
    const [one, two] = [key.sign(message), key.sign(message)];
    expect(hexOf(one)).not.toBe(hexOf(two));
    expect([one, two].every((signature) => isMlDsa44Signed(key.publicKey, message, signature))).toBe(true);
  });

  it('of another length verify nothing', () => {
    const message = bytesOf('message');
    expect(isMlDsa44Signed(key.publicKey.slice(1), message, key.sign(message))).toBe(false);
    expect(isMlDsa44Signed(new Uint8Array(1_312), message, new Uint8Array(2_420))).toBe(false);
    expect(isMlDsa44Signed(new Uint8Array(1_312).fill(0xff), message, new Uint8Array(2_420).fill(0xff))).toBe(false);
  });

  it('a witness signs with the line of its key', () => {
    const signer = pqWitness('witness.example/w1');
    const { keyName, keyId } = signatureOf(checkpointOf(3), signer);
    expect([keyName, keyId]).toEqual([signer.vkey.keyName, signer.vkey.keyId]);
  });
});
