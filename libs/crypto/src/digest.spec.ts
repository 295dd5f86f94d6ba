import { describe, expect, it } from 'vitest';

import { checkArguments } from './call-arguments.js';
import { digestOf, digestOfJson, isDigest, sha256, sha256Hex } from './digest.js';
import { canonicalize } from './jcs.js';
import { type JsonObject, StrictJsonError } from './strict-json.js';

// FIPS 180-4 example: SHA-256("abc").
const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

describe('digest', () => {
  it('is SHA-256 with its prefix, of bytes and of a text alike', () => {
    expect(sha256Hex('abc')).toBe(ABC);
    expect(Buffer.from(sha256(Buffer.from('abc'))).toString('hex')).toBe(ABC);
    expect(digestOf('abc')).toBe(`sha256:${ABC}`);
    expect(digestOf(Buffer.from('abc'))).toBe(`sha256:${ABC}`);
  });

  it('of a value is the digest of its canonical bytes', () => {
    expect(digestOfJson({ b: 1, a: [2.0] })).toBe(digestOf('{"a":[2],"b":1}'));
  });

  it.each([ABC, `SHA256:${ABC}`, `sha256:${ABC.toUpperCase()}`, `sha256:${ABC}0`, `sha256:${ABC}\n`, 7, null])(
    '%j is no digest',
    (value) => {
      expect(isDigest(value)).toBe(false);
    },
  );
});

describe('arguments that came inside a body', () => {
  const nested = (depth: number): JsonObject => (depth === 1 ? {} : { a: nested(depth - 1) });
  const reason = (value: JsonObject): unknown => {
    try {
      return checkArguments(value).digest;
    } catch (error) {
      return error instanceof StrictJsonError ? error.reason : error;
    }
  };

  it.each<[string, (text: string) => JsonObject]>([
    ['one text', (text) => ({ text })],
    ['empty lists and objects', (text) => ({ a: [], b: {}, c: [[], {}, ''], text })],
    ['many members', (text) => ({ ...Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [at, 0])), text })],
    ['many items', (text) => ({ list: Array.from({ length: 50_000 }, (_, at) => (at % 2 ? null : 1.5)), text })],
    ['letters of several bytes', (text) => ({ ключ: '😀\n"', text })],
  ])('may take 256 KiB in canonical form and not a byte more: %s', (_, make) => {
    const rest = 262_144 - Buffer.byteLength(canonicalize(make('')));
    expect(isDigest(reason(make('x'.repeat(rest))))).toBe(true);
    expect(reason(make('x'.repeat(rest + 1)))).toBe('too_large');
  });

  it('are refused at the size that is certain, without their canonical form', () => {
    const looked: string[] = [];
    const member = { enumerable: true, get: () => 'x'.repeat(70_000) };
    const value = Object.create(null, Object.fromEntries('abcdefgh'.split('').map((name) => [name, member])));
    const watched = new Proxy(value as JsonObject, {
      get: (target, name: string) => {
        looked.push(name);
        return target[name];
      },
    });
    expect(reason(watched)).toBe('too_large');
    // Each once for its depth, and those up to the limit for their size.
    expect(looked).toHaveLength(8 + 4);
  });

  it('may be 32 deep, not 33', () => {
    expect(reason(nested(32))).toBe(digestOfJson(nested(32)));
    expect(reason(nested(33))).toBe('depth');
    expect(reason({ list: [[nested(30)]] })).toBe('depth');
  });

  it('may be 256 KiB in canonical form, not a byte more', () => {
    const frame = '{"a":""}'.length;
    expect(isDigest(reason({ a: 'x'.repeat(262_144 - frame) }))).toBe(true);
    expect(reason({ a: 'x'.repeat(262_145 - frame) })).toBe('too_large');
  });
});
