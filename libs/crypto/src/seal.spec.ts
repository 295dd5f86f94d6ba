import { describe, expect, it, vi } from 'vitest';

import { decodeBase64url, encodeBase64url } from './base64url.js';
import { decodeDeedCose, encodeDeedCose, sigStructure } from './cose-sign1.js';
import { digestOf } from './digest.js';
import { SigningKey } from './ed25519.js';
import {
  isDeedCoseSignedInPool,
  isSealSigned,
  isSealSignedInPool,
  sealDeed,
  sealFault,
  sealInput,
  type StoredSeal,
} from './seal.js';
import { sealAtOnce } from './testing/seal-at-once.js';

const body = Buffer.from('{"a":1}');
const key = SigningKey.generate();
const seal = sealAtOnce(body, key);

const flipEachBit = (text: string): string[] => {
  const bytes = decodeBase64url(text, 64);
  return Array.from({ length: bytes.length * 8 }, (_, bit) =>
    encodeBase64url(Uint8Array.from(bytes, (byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))),
  );
};

describe('seal', () => {
  it('is a signature over the tag, a line feed and the body hash (rule DEED-1)', () => {
    expect(Buffer.from(sealInput(seal.bodyHash)).toString()).toBe(`service/deed/v1\n${seal.bodyHash}`);
    expect(seal.bodyHash).toBe(digestOf(body));
    expect(seal.kid).toBe(key.publicKey.kid);
    const signature = decodeBase64url(seal.signature, 64);
    expect(key.publicKey.verify(Buffer.from(`service/deed/v1\n${seal.bodyHash}`), signature)).toBe(true);
  });

  it('is the same whoever makes it', () => {
    expect(sealDeed(body, digestOf(body), key)).toEqual(seal);
  });

  it('is not returned when what was signed does not verify (rule DEED-2)', () => {
    const faulty = SigningKey.generate();
    vi.spyOn(faulty, 'sign').mockImplementation((message) => key.sign(message));
    expect(() => sealDeed(body, digestOf(body), faulty)).toThrow('does not verify');
  });

  it('is not returned over bytes that are not those of the hash', () => {
    const other = Buffer.from('{"a":2}');
    expect(() => sealDeed(other, digestOf(body), key)).toThrow('does not verify');
  });

  it('holds over its bytes and no others', async () => {
    expect(sealFault(body, seal, key.publicKey)).toBeNull();
    expect(isSealSigned(seal, key.publicKey)).toBe(true);
    expect(await isSealSignedInPool(seal, key.publicKey)).toBe(true);
    expect(sealFault(Buffer.from('{"a":2}'), seal, key.publicKey)).toBe('body_hash_mismatch');
    expect(await isSealSignedInPool({ ...seal, bodyHash: digestOf('{"a":2}') }, key.publicKey)).toBe(false);
  });

  it('does not hold with any bit of its signature flipped', () => {
    const verdicts = flipEachBit(seal.signature).map((signature) =>
      sealFault(body, { ...seal, signature }, key.publicKey),
    );
    expect(new Set(verdicts)).toEqual(new Set(['bad_signature']));
  });

  const other = SigningKey.generate();
  const signed = (text: string, signer = key): string => encodeBase64url(signer.sign(Buffer.from(text)));
  const attacks: [string, Partial<StoredSeal>][] = [
    ['made by another key', { signature: signed(`service/deed/v1\n${seal.bodyHash}`, other) }],
    ['over the hash without the tag', { signature: signed(seal.bodyHash) }],
    ['under the tag of an intent', { signature: signed(`service/intent/v1\n${seal.bodyHash}`) }],
    ['with the signature of the COSE form', { signature: seal.coseSignature }],
    ['of no known spelling', { signature: `${seal.signature}=` }],
    ['of no bytes', { signature: '' }],
  ];

  it.each(attacks)('%s does not hold', async (_name, change) => {
    expect(sealFault(body, { ...seal, ...change }, key.publicKey)).toBe('bad_signature');
    expect(isSealSigned({ ...seal, ...change }, key.publicKey)).toBe(false);
    expect(await isSealSignedInPool({ ...seal, ...change }, key.publicKey)).toBe(false);
  });
});

describe('the signature of the COSE form', () => {
  const cose = { kid: seal.kid, body, coseSignature: seal.coseSignature };

  it('holds over its bytes, its kid and no others', async () => {
    expect(await isDeedCoseSignedInPool(cose, key.publicKey)).toBe(true);
    expect(await isDeedCoseSignedInPool({ ...cose, body: Buffer.from('{"a":2}') }, key.publicKey)).toBe(false);
    expect(await isDeedCoseSignedInPool({ ...cose, kid: '0'.repeat(32) }, key.publicKey)).toBe(false);
    expect(await isDeedCoseSignedInPool(cose, SigningKey.generate().publicKey)).toBe(false);
  });

  it('does not hold with any bit of it flipped, as the seal, or as no signature at all', async () => {
    const others = [...flipEachBit(seal.coseSignature), seal.signature, `${seal.coseSignature}=`, ''];
    const verdicts = others.map((coseSignature) => isDeedCoseSignedInPool({ ...cose, coseSignature }, key.publicKey));
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set([false]));
  });

  it('lets the server serve it without a private key', () => {
    const served = decodeDeedCose(encodeDeedCose(cose));
    expect(digestOf(served.body)).toBe(seal.bodyHash);
    const header = Buffer.from(`a201270450${seal.kid}`, 'hex');
    const signature = decodeBase64url(served.coseSignature, 64);
    expect(key.publicKey.verify(sigStructure(header, served.body), signature)).toBe(true);
  });
});
