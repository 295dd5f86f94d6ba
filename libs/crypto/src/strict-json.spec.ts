import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { canonicalBytes, canonicalize } from './jcs.js';
import {
  ARGS_PROFILE,
  bodyProfile,
  INTENT_PROFILE,
  type JsonProfile,
  type JsonValue,
  parseStrictJson,
  RECORDED_INPUT_PROFILE,
  StrictJsonError,
  strictJsonInPieces,
} from './strict-json.js';
import { dearObjects } from './testing/dear-json.js';

const WIDE: JsonProfile = bodyProfile({ maxBytes: 16 * 1024 * 1024, maxDepth: 1_000 });

const parse = (text: string, profile: JsonProfile = WIDE): JsonValue => parseStrictJson(Buffer.from(text), profile);

const refusal = (input: string | Uint8Array, profile: JsonProfile = WIDE): StrictJsonError => {
  try {
    parseStrictJson(typeof input === 'string' ? Buffer.from(input) : input, profile);
  } catch (error) {
    if (error instanceof StrictJsonError) return error;
    throw error;
  }
  throw new Error('the text was accepted');
};

describe('strict JSON: what is refused, and where', () => {
  it.each([
    ['', 'syntax', 0],
    ['\uFEFF{}', 'syntax', 0],
    ['[1,]', 'syntax', 3],
    ['{"a":1,}', 'syntax', 7],
    ['{"a" 1}', 'syntax', 5],
    ['[1 2]', 'syntax', 3],
    ['[1}', 'syntax', 2],
    ['{}{}', 'syntax', 2],
    ['// no', 'syntax', 0],
    ["{'a':1}", 'syntax', 1],
    ['NaN', 'syntax', 0],
    ['-', 'syntax', 1],
    ['01', 'syntax', 1],
    ['1.', 'syntax', 2],
    ['1e', 'syntax', 2],
    ['nul', 'syntax', 0],
    ['"\n"', 'syntax', 1],
    ['"\\x"', 'syntax', 1],
    ['"\\u12g4"', 'syntax', 5],
    ['"abc', 'syntax', 4],
    ['{"a":1,"a":2}', 'duplicate_key', 7],
    ['{"org":1,"\\u006frg":2}', 'duplicate_key', 9],
    ['{"__proto__":1,"__proto__":2}', 'duplicate_key', 15],
    ['"\\ud800"', 'lone_surrogate', 0],
    ['"\\udc00\\ud800"', 'lone_surrogate', 0],
    ['{"\\ud83d":1}', 'lone_surrogate', 1],
    ['9007199254740992', 'big_int', 0],
    ['-9007199254740992', 'big_int', 0],
    ['[18446744073709551616]', 'big_int', 1],
    ['1' + '0'.repeat(400), 'big_int', 0],
    ['1e400', 'number_range', 0],
    ['-1e400', 'number_range', 0],
  ])('%j is refused as %s at byte %i', (text, reason, offset) => {
    expect(refusal(text)).toMatchObject({ reason, offset });
  });

  it('names the value at fault by its path', () => {
    expect(refusal('{"args":{"list":[1,2,{"n":9007199254740993}]}}').path).toEqual(['args', 'list', 2, 'n']);
  });

  it.each([
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22], 1],
    ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22], 2],
    ['a lone continuation byte', [0x22, 0x61, 0x80, 0x22], 2],
    ['a character beyond U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 2],
    ['a character cut by the end', [0x22, 0xc3], 2],
  ])('invalid UTF-8 is refused, not replaced: %s', (_name, bytes, offset) => {
    expect(refusal(Uint8Array.from(bytes))).toMatchObject({ reason: 'utf8', offset });
  });

  it('judges the size before it reads a byte', () => {
    expect(refusal(new Uint8Array(2_049).fill(0xff), INTENT_PROFILE).reason).toBe('too_large');
    expect(refusal(new Uint8Array(2_048).fill(0xff), INTENT_PROFILE).reason).toBe('utf8');
  });

  it('counts the outermost container as depth 1', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(() => parse(nested(32), ARGS_PROFILE)).not.toThrow();
    expect(refusal(nested(33), ARGS_PROFILE)).toMatchObject({ reason: 'depth', offset: 32 });
  });

  it('survives a million open brackets without the stack, whatever the profile says of depth', () => {
    expect(refusal('['.repeat(1_000_000)).reason).toBe('depth');
    expect(refusal('{"a":'.repeat(1_000_000), { ...WIDE, maxDepth: 2_000_000 }).reason).toBe('syntax');
    expect(Array.isArray(parse('['.repeat(1e6) + ']'.repeat(1e6), { ...WIDE, maxDepth: 1e6 }))).toBe(true);
  });

  it('reads every number again that it took and RFC 8785 wrote', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (number) => {
        const taken = parse(`[${number.toExponential()}]`, ARGS_PROFILE);
        expect(parse(canonicalize(taken), RECORDED_INPUT_PROFILE)).toEqual(taken);
      }),
      { examples: [[1e17], [-1e20], [2 ** 53], [5e-324], [Number.MAX_VALUE]] },
    );
    expect(refusal(canonicalize([1e17]), ARGS_PROFILE).reason).toBe('big_int');
  });

  it.each([
    ['1.5', 'fraction'],
    ['-1e-1', 'fraction'],
    ['1e20', 'big_int'],
    ['9007199254740992.0', 'big_int'],
    ['1e400', 'number_range'],
  ])('refuses %s in the integer-only profile as %s', (text, reason) => {
    expect(refusal(text, INTENT_PROFILE).reason).toBe(reason);
  });

  it.each([
    ['-12', -12],
    ['1.0', 1],
    ['1e3', 1000],
  ])('takes %s for an integer, whatever its spelling', (text, value) => {
    expect(parse(text, INTENT_PROFILE)).toBe(value);
  });
});

describe('strict JSON: what a value becomes', () => {
  it.each([
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991', -9007199254740991],
    ['1e21', 1e21],
    ['5e-324', 5e-324],
    ['1e-400', 0],
    ['0.1', 0.1],
    ['"\\u0000\\uFFFE\\ud83d\\ude00\\/"', '\0\uFFFE\u{1F600}/'],
    ['"é\u{1F600}"', 'é\u{1F600}'],
    [' [ ] ', []],
  ])('%s', (text, value) => {
    expect(parse(text)).toEqual(value);
  });

  it.each(['-0', '-0.0', '-0e7', '-1e-400'])('%s is plain zero', (text) => {
    expect(Object.is(parse(text), 0)).toBe(true);
  });

  it('keeps every magic name as data and pollutes nothing', () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'toJSON'];
    const text = `{${names.map((name) => `${JSON.stringify(name)}:{"polluted":true}`).join(',')}}`;
    const value = parse(text) as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.keys(value)).toEqual(names);
    expect('polluted' in {}).toBe(false);
    expect(canonicalize(value as never)).toContain('"__proto__":{"polluted":true}');
  });

  it('does not share memory with its input', () => {
    const bytes = Buffer.from('{"name":"value"}');
    const value = parseStrictJson(bytes, WIDE);
    bytes.fill(0);
    expect(value).toEqual({ name: 'value' });
  });

  it('reads back whatever canonical JSON says (property)', () => {
    const safe = fc.jsonValue({ maxDepth: 6 }).filter((value) => !hasUnsafeInteger(value));
    fc.assert(
      fc.property(safe, (value) => {
        const bytes = canonicalBytes(value as JsonValue);
        expect(canonicalBytes(parseStrictJson(bytes, WIDE))).toEqual(bytes);
      }),
      { numRuns: 2_000 },
    );
  });

  it('agrees with JSON.parse on every text that both accept (property)', () => {
    const noisy = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0d8e1.-+ tfnrals\n'), maxLength: 30 });
    fc.assert(
      fc.property(fc.oneof(noisy, fc.json()), (text) => {
        const ours = attempt(() => canonicalize(parse(text)));
        if (ours !== null) expect(ours).toBe(canonicalize(JSON.parse(text) as JsonValue));
      }),
      { numRuns: 5_000 },
    );
  });
});

// The classes of input that RFC 8259 leaves to the implementation (the i_ cases of JSONTestSuite), decided one by one.
describe('strict JSON: where RFC 8259 leaves the choice', () => {
  it.each([
    ['a fraction below the smallest double', '[123.456e-789]', 0],
    ['an exponent below the smallest double', '[123e-10000000]', 0],
  ])('%s is zero', (_name, text, value) => {
    expect(parse(text)).toEqual([value]);
  });

  it('500 arrays inside each other are read where the profile admits them', () => {
    expect(() => parse('['.repeat(500) + ']'.repeat(500))).not.toThrow();
  });

  it.each([
    ['an exponent beyond the largest double', '[0.4e006699999999999999999999999999999999999]', 'number_range'],
    ['the same, negative', '[-1e+9999]', 'number_range'],
    ['a fraction with an exponent beyond it', '[1.5e+9999]', 'number_range'],
    ['an integer mantissa with an exponent beyond it', '[123123e100000]', 'number_range'],
    ['a big negative integer', '[-123123123123123123123123123123]', 'big_int'],
    ['a big positive integer', '[100000000000000000000]', 'big_int'],
    ['a key that is half a pair', '{"\\uDFAA":0}', 'lone_surrogate'],
    ['a first half without a second', '["\\uDADA"]', 'lone_surrogate'],
    ['a first half before another character', '["\\uD888\\u1234"]', 'lone_surrogate'],
    ['a first half before another escape', '["\\uD800\\n"]', 'lone_surrogate'],
    ['two first halves', '["\\uD800\\uD800\\n"]', 'lone_surrogate'],
    ['a first half before letters', '["\\ud800abc"]', 'lone_surrogate'],
    ['halves the wrong way round', '["\\uDd1e\\uD834"]', 'lone_surrogate'],
    ['UTF-8 with a byte order mark', '\uFEFF{}', 'syntax'],
  ])('%s is refused', (_name, text, reason) => {
    expect(refusal(text).reason).toBe(reason);
  });

  it.each([
    ['UTF-16, little endian, with a mark', 'fffe5b002200e90022005d00', 'utf8'],
    ['UTF-16, little endian', '5b002200e90022005d00', 'utf8'],
    ['UTF-16, big endian', '005b002200e90022005d', 'utf8'],
    ['UTF-16, big endian, all ASCII', '005b005d', 'syntax'],
    ['ISO 8859-1', '5b22e9225d', 'utf8'],
    ['a truncated character', '5b22e0ff225d', 'utf8'],
    ['an overlong character of two bytes', '5b22c0af225d', 'utf8'],
    ['an overlong character of six bytes', '5b22fc83bfbfbfbf225d', 'utf8'],
    ['a character outside Unicode', '5b22f4bfbfbf225d', 'utf8'],
    ['a surrogate written as UTF-8', '5b22eda080225d', 'utf8'],
  ])('%s is refused', (_name, hex, reason) => {
    expect(refusal(Buffer.from(hex, 'hex')).reason).toBe(reason);
  });
});

describe('strict JSON: bombs', () => {
  // Sixteen times what any place accepts, so that a reader whose work grows with the square of its text is told by the
  // limit of a test, minutes away from a reader that goes on from where it is. `npm run bench` has the time it takes.
  const bytes = 16 * ARGS_PROFILE.maxBytes;

  it.each(dearObjects(bytes))('%s: read to the end, and written back', (_, text) => {
    expect(text.byteLength).toBeGreaterThan(bytes * 0.8);
    expect(Buffer.from(canonicalBytes(parseStrictJson(text, WIDE))).equals(text)).toBe(true);
  });

  it.each([
    ['open strings', Buffer.alloc(bytes, '"'), 'syntax'],
    ['brackets', Buffer.alloc(bytes, '['), 'depth'],
    ['spaces', Buffer.alloc(bytes, ' '), 'syntax'],
    ['late invalid UTF-8', Buffer.concat([Buffer.alloc(bytes, 'a'), Buffer.from([0xff])]), 'utf8'],
    ['a text that never ends', Buffer.concat([Buffer.from('"'), Buffer.alloc(bytes, 'a')]), 'syntax'],
  ])('%s: refused', (_, text, reason) => expect(refusal(text)).toMatchObject({ reason }));
});

describe('strict JSON: in pieces', () => {
  const piecesOf = (text: Uint8Array): { value: JsonValue; pauses: number } => {
    const pieces = strictJsonInPieces(text, WIDE);
    for (let pauses = 0; ; pauses += 1) {
      const piece = pieces.next();
      if (piece.done === true) return { value: piece.value, pauses };
    }
  };

  it('ordinary bodies are one piece', () => expect(piecesOf(Buffer.from(`[${'1,'.repeat(4_000)}1]`)).pauses).toBe(0));

  // Numbers of values and not of milliseconds: the time of a piece is a figure of `npm run bench`.
  it.each([
    ['items', `[${'1,'.repeat(89_999)}1]`, 90_000],
    ['members', `{${Array.from({ length: 90_000 }, (_, index) => `"${index}a":1`).join()}}`, 90_000],
    ['lists in lists', `[${'[[]],'.repeat(44_999)}[[]]]`, 90_000],
  ])('90,000 %s pause after each 4,096, and give the same value', (_, text, values) => {
    const { value, pauses } = piecesOf(Buffer.from(text));
    expect(value).toEqual(JSON.parse(text));
    expect(pauses).toBe(Math.floor(values / 4_096));
  });

  it('what is refused is refused in the piece that reads it', () => {
    const pieces = strictJsonInPieces(Buffer.from(`{"a":[${'1,'.repeat(5_000)}9007199254740992]}`), WIDE);
    expect(pieces.next().done).toBe(false);
    expect(() => pieces.next()).toThrow(expect.objectContaining({ reason: 'big_int', path: ['a', 5_000] }));
  });
});

const VECTORS = process.env['VECTORS_DIR'];

describe.skipIf(VECTORS === undefined)('JSONTestSuite (set VECTORS_DIR to run)', () => {
  const folder = join(VECTORS ?? '', 'json-testsuite', 'test_parsing');
  const files = VECTORS === undefined ? [] : readdirSync(folder).sort();
  const isAccepted = (file: string): boolean =>
    attempt(() => [parseStrictJson(readFileSync(join(folder, file)), WIDE)]) !== null;

  // Our profile is an I-JSON one: of what every parser must accept, it refuses members that repeat.
  const REFUSED_Y = ['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json'];

  it('has files', () => {
    expect(files.length).toBeGreaterThan(250);
  });

  it('accepts every y_ file but the two with repeated members', () => {
    const refused = files.filter((file) => file.startsWith('y_') && !isAccepted(file));
    expect(refused).toEqual(REFUSED_Y);
  });

  it('refuses every n_ file', () => {
    expect(files.filter((file) => file.startsWith('n_') && isAccepted(file))).toEqual([]);
  });
});

function attempt<Result>(action: () => Result): Result | null {
  try {
    return action();
  } catch (error) {
    if (error instanceof StrictJsonError) return null;
    throw error;
  }
}

function hasUnsafeInteger(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return value !== null && typeof value === 'object' && Object.values(value).some(hasUnsafeInteger);
}
