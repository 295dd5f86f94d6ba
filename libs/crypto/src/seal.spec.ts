import { describe, expect, it } from 'vitest';

import { decodeBase64url, encodeBase64url } from './base64url.js';
import { decodeDeedCose, encodeDeedCose, sigStructure } from './cose-sign1.js';
import { digestOf } from './digest.js';
import { SigningKey } from './ed25519.js';
import { type Seal, sealDeed, sealFault, sealFaultInPool, sealInput } from './seal.js';

const body = Buffer.from('{"a":1}');
const key = SigningKey.generate();
const seal = sealDeed(body, key);

const flipEachBit = (text: string): string[] => {
  const bytes = decodeBase64url(text, 64);
  return Array.from({ length: bytes.length * 8 }, (_, bit) =>
    encodeBase64url(Uint8Array.from(bytes, (byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))),
  );
};

describe('seal', () => {
  it('is a signature over the tag, a line feed and the body hash (document 1, Deed)', () => {
    expect(Buffer.from(sealInput(seal.bodyHash)).toString()).toBe(`service/deed/v1\n${seal.bodyHash}`);
    expect(seal.bodyHash).toBe(digestOf(body));
    expect(seal.kid).toBe(key.publicKey.kid);
    const signature = decodeBase64url(seal.signature, 64);
    expect(key.publicKey.verify(Buffer.from(`service/deed/v1\n${seal.bodyHash}`), signature)).toBe(true);
  });

  it('is the same whenever it is made', () => {
    expect(sealDeed(body, key)).toEqual(seal);
  });

  it('holds over its bytes and no others', async () => {
    expect(sealFault(body, seal, key.publicKey)).toBeNull();
    expect(await sealFaultInPool(body, seal, key.publicKey)).toBeNull();
    expect(sealFault(Buffer.from('{"a":2}'), seal, key.publicKey)).toBe('body_hash_mismatch');
  });

  it('does not hold with any bit of a signature flipped', () => {
    const verdicts = flipEachBit(seal.signature).map((signature) =>
      sealFault(body, { ...seal, signature }, key.publicKey),
    );
    expect(new Set(verdicts)).toEqual(new Set(['bad_signature']));
    const cose = flipEachBit(seal.coseSignature).map((text) =>
      sealFault(body, { ...seal, coseSignature: text }, key.publicKey),
    );
    expect(new Set(cose)).toEqual(new Set(['bad_cose_signature']));
  });

  const other = SigningKey.generate();
  const signed = (text: string, signer = key): string => encodeBase64url(signer.sign(Buffer.from(text)));
  const attacks: [string, Partial<Seal>, string][] = [
    ['made by another key', { signature: signed(`service/deed/v1\n${seal.bodyHash}`, other) }, 'bad_signature'],
    ['over the hash without the tag', { signature: signed(seal.bodyHash) }, 'bad_signature'],
    ['under the tag of an intent', { signature: signed(`service/intent/v1\n${seal.bodyHash}`) }, 'bad_signature'],
    [
      'with the two signatures swapped',
      { signature: seal.coseSignature, coseSignature: seal.signature },
      'bad_signature',
    ],
    ['of no known spelling', { signature: `${seal.signature}=` }, 'bad_signature'],
    ['with an empty COSE signature', { coseSignature: '' }, 'bad_cose_signature'],
    ['with another kid in the COSE header', { kid: other.publicKey.kid }, 'bad_cose_signature'],
  ];

  it.each(attacks)('%s does not hold', async (_name, change, fault) => {
    expect(sealFault(body, { ...seal, ...change }, key.publicKey)).toBe(fault);
    expect(await sealFaultInPool(body, { ...seal, ...change }, key.publicKey)).toBe(fault);
  });

  it('serves the COSE form without a private key', () => {
    const cose = decodeDeedCose(encodeDeedCose({ kid: seal.kid, body, coseSignature: seal.coseSignature }));
    expect(digestOf(cose.body)).toBe(seal.bodyHash);
    const header = Buffer.from(`a201270450${seal.kid}`, 'hex');
    expect(key.publicKey.verify(sigStructure(header, cose.body), decodeBase64url(cose.coseSignature, 64))).toBe(true);
  });
});
