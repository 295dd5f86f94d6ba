import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { decodeBase64url, decodeHex, EncodingError, encodeBase64url, encodeHex } from './base64url.js';

const refusal = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof EncodingError) return error.reason;
    throw error;
  }
  throw new Error('the text was accepted');
};

describe('base64url', () => {
  // RFC 4648 section 10, without its padding.
  it.each([
    ['', ''],
    ['f', 'Zg'],
    ['fo', 'Zm8'],
    ['foo', 'Zm9v'],
    ['foob', 'Zm9vYg'],
    ['fooba', 'Zm9vYmE'],
    ['foobar', 'Zm9vYmFy'],
  ])('%j is %j', (text, encoded) => {
    expect(encodeBase64url(Buffer.from(text))).toBe(encoded);
    expect(Buffer.from(decodeBase64url(encoded, 6)).toString()).toBe(text);
  });

  it.each([
    ['Zg==', 'alphabet'],
    ['Zm9v\n', 'alphabet'],
    ['Zm 9v', 'alphabet'],
    ['+/+/', 'alphabet'],
    ['Zm9vé', 'alphabet'],
    ['Zh', 'not_canonical'],
    ['Zm9', 'not_canonical'],
    ['Z', 'not_canonical'],
    ['Zm9vY', 'not_canonical'],
  ])('%j has a better spelling or none: %s', (text, reason) => {
    expect(refusal(() => decodeBase64url(text, 64))).toBe(reason);
  });

  it('judges the size first', () => {
    expect(refusal(() => decodeBase64url('='.repeat(88), 64))).toBe('too_large');
    expect(decodeBase64url('A'.repeat(86), 64)).toHaveLength(64);
    expect(refusal(() => decodeBase64url('A'.repeat(87), 64))).toBe('too_large');
  });

  it('reads back whatever it writes (property)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(Uint8Array.from(decodeBase64url(encodeBase64url(bytes), 200))).toEqual(bytes);
      }),
    );
  });

  it('has one text for each byte string (property)', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'AZaz09-_+/= '), maxLength: 12 }), (text) => {
        const bytes = accepted(() => decodeBase64url(text, 200));
        if (bytes !== null) expect(encodeBase64url(bytes)).toBe(text);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('hex', () => {
  it('reads back whatever it writes (property)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(Uint8Array.from(decodeHex(encodeHex(bytes), 64))).toEqual(bytes);
      }),
    );
  });

  it.each([
    ['AB', 'alphabet'],
    ['0x', 'alphabet'],
    ['abc', 'not_canonical'],
    ['00'.repeat(5), 'too_large'],
  ])('%j is refused: %s', (text, reason) => {
    expect(refusal(() => decodeHex(text, 4))).toBe(reason);
  });
});

const VECTORS = process.env['VECTORS_DIR'];

describe.skipIf(VECTORS === undefined)(
  'strict base64url tables of the Go standard library (set VECTORS_DIR to run)',
  () => {
    interface Tables {
      valid: { hex: string; b64url: string }[];
      must_refuse: string[];
    }
    const file = join(VECTORS ?? '', 'go-stdlib', 'base64url_strict.json');
    const tables =
      VECTORS === undefined ? { valid: [], must_refuse: [] } : (JSON.parse(readFileSync(file, 'utf8')) as Tables);

    it.each(tables.valid)('$b64url', ({ hex, b64url }) => {
      expect(encodeHex(decodeBase64url(b64url, 1_024))).toBe(hex);
      expect(encodeBase64url(decodeHex(hex, 1_024))).toBe(b64url);
    });

    it.each(tables.must_refuse)('refuses %j', (text) => {
      expect(() => decodeBase64url(text, 1_024)).toThrow(EncodingError);
    });
  },
);

function accepted(action: () => Uint8Array): Uint8Array | null {
  try {
    return action();
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
}
