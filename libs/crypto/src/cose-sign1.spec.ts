import fc from 'fast-check';
import { decode, encode } from 'cborg';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { encodeBase64url } from './base64url.js';
import {
  CoseError,
  coseSignatureInput,
  decodeCoseSign1,
  decodeDeedCose,
  encodeCoseSign1,
  encodeDeedCose,
  sigStructure,
} from './cose-sign1.js';
import { parsePublicKey } from './ed25519.js';

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const refusal = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof CoseError) return error.reason;
    throw error;
  }
  throw new Error('the message was accepted');
};

const kid = '000102030405060708090a0b0c0d0e0f';
const deed = { kid, body: Buffer.from('{"a":1}'), coseSignature: encodeBase64url(new Uint8Array(64).fill(7)) };

describe('COSE form of a deed', () => {
  it('is d2 84, the protected header {1: -8, 4: kid}, an empty map, the deed bytes and the signature', () => {
    expect(hexOf(encodeDeedCose(deed))).toBe(`d28455a201270450${kid}a0477b2261223a317d5840${'07'.repeat(64)}`);
  });

  it.each([0, 1, 23, 24, 255, 256, 65_535, 65_536, 262_144])('is signed over its Sig_structure: %i bytes', (length) => {
    const body = new Uint8Array(length).fill(0x61);
    const header = bytesOf(`a201270450${kid}`);
    expect(hexOf(coseSignatureInput(kid, body))).toBe(hexOf(sigStructure(header, body)));
  });

  it('reads back whatever it writes (property)', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    fc.assert(
      fc.property(bytes(16), fc.uint8Array({ maxLength: 5_000 }), bytes(64), (keyId, body, signature) => {
        const message = { kid: hexOf(keyId), body, coseSignature: encodeBase64url(signature) };
        expect(decodeDeedCose(encodeDeedCose(message))).toEqual(message);
      }),
    );
  });

  it('changes or is refused with any bit flipped', () => {
    const original = encodeDeedCose(deed);
    for (let bit = 0; bit < original.length * 8; bit += 1) {
      const flipped = Uint8Array.from(original, (byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      const reading = attempt(() => decodeDeedCose(flipped));
      if (reading !== null) expect(reading).not.toEqual(decodeDeedCose(original));
    }
  });

  it.each([
    ['nothing', '', 'cbor'],
    ['no tag', '8440a04040', 'tag'],
    ['another tag', 'd38440a04040', 'cbor'],
    ['three parts', 'd28340a040', 'shape'],
    ['a detached payload', 'd28440a0f640', 'shape'],
    ['a payload of text', 'd28440a06161', 'cbor'],
    ['a trailing byte', 'd28440a0404000', 'cbor'],
    ['an indefinite array', 'd29f40a04040ff', 'cbor'],
    ['a longer length than needed', 'd2845800a04040', 'cbor'],
    ['a longer tag than needed', 'd8128440a04040', 'cbor'],
    ['a protected header that is no map', 'd2844180a04040', 'header'],
    ['a repeated key', 'd28440a2040104024040', 'cbor'],
    ['keys in another order', 'd28440a2040101264040', 'not_deterministic'],
    ['keys in another order in the protected header', 'd28445a204010126a04040', 'not_deterministic'],
  ])('a message with %s is refused', (_name, hex, reason) => {
    expect(refusal(() => decodeCoseSign1(bytesOf(hex)))).toBe(reason);
  });

  const variant = (header: string, unprotected: Map<number, unknown>, signatureBytes = 64): Uint8Array =>
    encodeCoseSign1({
      protectedHeader: bytesOf(header),
      unprotectedHeader: unprotected,
      payload: deed.body,
      signature: new Uint8Array(signatureBytes),
    });

  it.each([
    ['no header', variant('', new Map()), 'header'],
    ['no key id', variant('a10127', new Map()), 'header'],
    ['another algorithm', variant(`a201260450${kid}`, new Map()), 'header'],
    ['a short key id', variant('a20127044100', new Map()), 'header'],
    ['one header more', variant(`a3012703000450${kid}`, new Map()), 'header'],
    ['an unprotected header', variant(`a201270450${kid}`, new Map([[4, bytesOf(kid)]])), 'header'],
    ['a short signature', variant(`a201270450${kid}`, new Map(), 63), 'shape'],
  ])('a deed with %s is refused', (_name, bytes, reason) => {
    expect(refusal(() => decodeDeedCose(bytes))).toBe(reason);
  });

  it('judges the size first', () => {
    expect(refusal(() => decodeCoseSign1(new Uint8Array(256 * 1024 + 1)))).toBe('too_large');
  });
});

const VECTORS = process.env['VECTORS_DIR'];

describe.skipIf(VECTORS === undefined)('COSE and CBOR vectors (set VECTORS_DIR to run)', () => {
  interface Example {
    input: { plaintext: string; sign0?: { key: { x_hex?: string }; external?: string } };
    intermediates: { ToBeSign_hex: string };
    output: { cbor: string };
  }
  const folder = (name: string): string => join(VECTORS ?? '', 'cose', name);
  const example = (path: string): Example => JSON.parse(readFileSync(path, 'utf8')) as Example;
  const files = (name: string, start: string): string[] =>
    VECTORS === undefined ? [] : readdirSync(folder(name)).filter((file) => file.startsWith(start));

  it.each(files('eddsa-examples', 'eddsa-sig-01'))('signs and reads %s', (file) => {
    const { input, intermediates, output } = example(join(folder('eddsa-examples'), file));
    const message = decodeCoseSign1(bytesOf(output.cbor));
    const covered = sigStructure(message.protectedHeader, message.payload);
    expect(hexOf(covered)).toBe(intermediates.ToBeSign_hex.toLowerCase());
    const key = parsePublicKey(bytesOf(input.sign0?.key.x_hex ?? ''));
    expect(key.verifyTwice(covered, message.signature)).toBe(true);
    expect(hexOf(encodeCoseSign1(message))).toBe(output.cbor.toLowerCase());
  });

  it.each(files('sign1-tests', 'sign-pass'))('covers the bytes of %s', (file) => {
    const { input, intermediates, output } = example(join(folder('sign1-tests'), file));
    // sign-pass-03 drops the tag, and sign-pass-01 spells an empty header a0: a strict reader puts back or refuses.
    const untagged = output.cbor.startsWith('84');
    expect(untagged ? refusal(() => decodeCoseSign1(bytesOf(output.cbor))) : 'tag').toBe('tag');
    const message = decodeCoseSign1(bytesOf(untagged ? `D2${output.cbor}` : output.cbor));
    const header = hexOf(message.protectedHeader) === 'a0' ? new Uint8Array(0) : message.protectedHeader;
    const covered = sigStructure(header, message.payload, bytesOf(input.sign0?.external ?? ''));
    expect(hexOf(covered)).toBe(intermediates.ToBeSign_hex.toLowerCase());
  });

  it.each(files('sign1-tests', 'sign-fail'))('takes %s for no deed', (file) => {
    const { output } = example(join(folder('sign1-tests'), file));
    expect(() => decodeDeedCose(bytesOf(output.cbor))).toThrow(CoseError);
  });

  it('CBOR appendix A: what round-trips there round-trips in the codec under ours', () => {
    interface Item {
      hex: string;
      roundtrip: boolean;
      decoded?: unknown;
    }
    const items = JSON.parse(readFileSync(join(VECTORS ?? '', 'cbor', 'appendix_a.json'), 'utf8')) as Item[];
    // Our messages hold integers, strings, arrays and maps; floats (f9, fa, fb) and integers above 2^53 never.
    const used = items.filter(
      ({ hex, roundtrip, decoded }) => roundtrip && decoded !== undefined && !/f[9ab]/.test(hex) && !isLarge(decoded),
    );
    expect(used.length).toBeGreaterThan(30);
    for (const { hex } of used) {
      expect(hexOf(encode(decode(bytesOf(hex), { useMaps: true })))).toBe(hex);
    }
  });
});

function isLarge(value: unknown): boolean {
  return typeof value === 'number' && !Number.isSafeInteger(value);
}

function attempt<Result>(action: () => Result): Result | null {
  try {
    return action();
  } catch (error) {
    if (error instanceof CoseError) return null;
    throw error;
  }
}
