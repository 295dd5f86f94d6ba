import fc from 'fast-check';
import { canonicalizeEx } from 'json-canonicalize';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { canonicalBytes, CanonicalizationError, canonicalize, canonicalizeByHand } from './jcs.js';
import { bodyProfile, type JsonObject, type JsonValue, parseStrictJson } from './strict-json.js';

const WIDE = bodyProfile({ maxBytes: 1024 * 1024, maxDepth: 64 });
const parse = (text: string): JsonValue => parseStrictJson(Buffer.from(text), WIDE);

const refusal = (value: unknown): string => {
  try {
    canonicalize(value as JsonValue);
  } catch (error) {
    if (error instanceof CanonicalizationError) return `${error.reason} ${error.path}`;
    throw error;
  }
  throw new Error('the value was written');
};

/** A double from its bits as RFC 8785 appendix B prints them. */
const double = (hex: string): number => Buffer.from(hex, 'hex').readDoubleBE();

describe('RFC 8785', () => {
  it('section 3.2.2: the sample of primitive values', () => {
    const input =
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
      '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}';
    expect(canonicalize(parse(input))).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('section 3.2.3: members sort by UTF-16 code units', () => {
    const input =
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",' +
      '"\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}';
    expect(Object.values(JSON.parse(canonicalize(parse(input))) as object)).toEqual([
      'One',
      'Carriage Return',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('appendix B: %s is %s', (bits, text) => {
    expect(canonicalize(double(bits))).toBe(text);
  });

  it.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])('appendix B: %s is refused', (bits) => {
    expect(refusal(double(bits))).toBe('not_finite $');
  });
});

describe('canonical form: what has none', () => {
  it.each([
    ['undefined', undefined, 'not_json $'],
    ['a member that is undefined', { a: undefined }, 'not_json $.a'],
    ['an array hole', new Array(2), 'not_json $'],
    ['a function', () => 1, 'not_json $'],
    ['a bigint', 1n, 'not_json $'],
    ['a symbol', Symbol('s'), 'not_json $'],
    ['a date', { at: new Date(0) }, 'not_json $.at'],
    ['bytes', Buffer.from('x'), 'not_json $'],
    ['a map', new Map(), 'not_json $'],
    ['NaN', { n: [Number.NaN] }, 'not_finite $.n'],
    ['a lone surrogate', ['\ud800'], 'lone_surrogate $'],
    ['a lone surrogate in a key', { '\udc00': 1 }, 'lone_surrogate $'],
  ])('%s', (_name, value, expected) => {
    expect(refusal(value)).toBe(expected);
  });
});

describe('canonical form: where json-canonicalize 3.0.1 could not be the writer', () => {
  it('sorts an object that has a member named toJSON', () => {
    const value = parse('{"toJSON":1,"b":2,"a":{"toJSON":{},"B":1,"A":2}}');
    expect(canonicalize(value)).toBe('{"a":{"A":2,"B":1,"toJSON":{}},"b":2,"toJSON":1}');
    expect(canonicalizeEx(value)).not.toBe(canonicalize(value));
  });

  it('writes a value that stands in a tree twice', () => {
    const shared = { x: 1 };
    expect(canonicalize({ a: shared, ab: shared })).toBe('{"a":{"x":1},"ab":{"x":1}}');
    expect(() => canonicalizeEx({ a: shared, ab: shared })).toThrow('Circular');
  });

  it('refuses a lone surrogate', () => {
    expect(refusal('\ud800')).toBe('lone_surrogate $');
    expect(canonicalizeEx('\ud800')).toBe('"\\ud800"');
  });

  it('keeps __proto__ as a member', () => {
    expect(canonicalize(parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}');
  });

  it('agrees with it everywhere else (property)', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        // Parsed from text first, so that no object is shared and none is named toJSON by chance.
        fc.pre(!JSON.stringify(value).includes('toJSON'));
        const copy = JSON.parse(JSON.stringify(value)) as JsonObject;
        expect(canonicalize(copy)).toBe(canonicalizeEx(copy, { strictUndefined: true }));
      }),
      { numRuns: 10_000 },
    );
  });

  it('does not depend on the order of members (property)', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.integer()), (members) => {
        const reversed = Object.fromEntries(Object.entries(members).reverse());
        expect(canonicalize(reversed)).toBe(canonicalize(members));
      }),
    );
  });
});

/** The same value with the members of each object in order: what is handed to the runtime's own writer. */
const inOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOrder);
  if (value === null || typeof value !== 'object') return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  // What the parser of requests makes has none.
  if (prototype !== null && prototype !== Object.prototype) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  const ordered = Object.create(prototype) as Record<string, unknown>;
  for (const [name, member] of members) {
    const described = { value: inOrder(member), enumerable: true, configurable: true, writable: true };
    Object.defineProperty(ordered, name, described);
  }
  return ordered;
};

describe('canonical form: of what stands in order already', () => {
  const anything = fc.anything({
    withDate: true,
    withMap: true,
    withBigInt: true,
    withSparseArray: true,
    withNullPrototype: true,
    stringUnit: 'binary',
  });

  it('is what the writer by hand writes or refuses (property)', () => {
    const outcome = (writer: typeof canonicalize, value: unknown): string => {
      try {
        return writer(value as JsonValue);
      } catch (error) {
        if (!(error instanceof CanonicalizationError)) throw error;
        return `${error.reason} at ${error.path}`;
      }
    };
    const tree = fc.oneof(anything, fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }));
    fc.assert(
      fc.property(tree, (value) => {
        for (const each of [value, inOrder(value)]) {
          expect(outcome(canonicalize, each)).toBe(outcome(canonicalizeByHand, each));
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it('puts members that are numbers where their digits stand, which no object can', () => {
    expect(canonicalize({ '2': 1, '10': 2, a: 3 })).toBe('{"10":2,"2":1,"a":3}');
    expect(canonicalize({ '10': 1, '20': 2, a: 3 })).toBe('{"10":1,"20":2,"a":3}');
  });

  it('lets nothing write itself', () => {
    const items = Object.assign([1, 2], { toJSON: () => 'something else' });
    expect(canonicalize({ items })).toBe('{"items":[1,2]}');
    expect(refusal({ toJSON: () => 'something else' })).toBe('not_json $.toJSON');
  });
});

const VECTORS = process.env['VECTORS_DIR'];

describe.skipIf(VECTORS === undefined)('canonicalization test data of the RFC authors (set VECTORS_DIR to run)', () => {
  const folder = join(VECTORS ?? '', 'jcs');
  const names =
    VECTORS === undefined ? [] : readdirSync(join(folder, 'input')).map((file) => file.replace('.json', ''));

  it('has files', () => {
    expect(names.length).toBeGreaterThan(5);
  });

  it.each(names)('%s', (name) => {
    const bytes = canonicalBytes(parseStrictJson(readFileSync(join(folder, 'input', `${name}.json`)), WIDE));
    const hex = readFileSync(join(folder, 'outhex', `${name}.txt`), 'utf8').replace(/\s+/g, '');
    expect(Buffer.from(bytes).toString('hex')).toBe(hex);
    expect(Buffer.from(bytes).toString()).toBe(readFileSync(join(folder, 'output', `${name}.json`), 'utf8').trimEnd());
  });
});
