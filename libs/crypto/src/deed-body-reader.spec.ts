/** The reader knows an ordinary body by one expression: whatever the bytes, its verdict is that of the strict one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { DeedBodyError, encodeDeedBody, parseDeedBody, parseDeedBodyStrictly } from './deed-body.js';
import { deedSchema, MAX_DEED_BYTES } from './deed-schema.js';
import { canonicalize } from './jcs.js';
import type { JsonObject, JsonValue } from './strict-json.js';
import { approvalAt, givenChain } from './testing/given-chain.js';

type Reader = typeof parseDeedBody;

/** The value as its one text, or why there is none. */
const verdictOf = (read: Reader, bytes: Uint8Array): string => {
  try {
    return canonicalize(read(bytes));
  } catch (error) {
    if (error instanceof DeedBodyError) return `${error.reason} ${error.path}`;
    throw error;
  }
};

/** The one verdict that both give. */
const verdict = (bytes: Uint8Array): string => {
  const strict = verdictOf(parseDeedBodyStrictly, bytes);
  expect(verdictOf(parseDeedBody, bytes)).toBe(strict);
  return strict;
};

const isAccepted = (bytes: Uint8Array): boolean => verdict(bytes).startsWith('{');

const asked = givenChain(2, { changeAt: (seq) => (seq === 2 ? approvalAt(seq, 'approved') : {}) }).slice(-1);
const bodies = [...givenChain(3), ...asked].map(({ body }) => Buffer.from(body));
const [, EXECUTED, ADMIN] = bodies as [Buffer, Buffer, Buffer];

/** Every place of a body that holds no object: dotted paths. */
const leavesOf = (value: JsonValue, path: string[] = []): string[][] =>
  value === null || typeof value !== 'object' || Array.isArray(value)
    ? [path]
    : Object.entries(value).flatMap(([member, child]) => leavesOf(child, [...path, member]));

const PLACEHOLDER = 'here';

/** A body with some text where a value was; everything else stays canonical. */
const withText = (bytes: Buffer, path: readonly string[], text: string): Buffer => {
  const body = JSON.parse(bytes.toString()) as JsonObject;
  const owner = path.slice(0, -1).reduce((object, member) => object[member] as JsonObject, body);
  owner[path.at(-1) ?? ''] = PLACEHOLDER;
  return Buffer.from(canonicalize(body).replace(`"${PLACEHOLDER}"`, () => text));
};

/** Texts of values: canonical ones, second spellings, and what JSON.parse takes or changes in silence. */
const VALUES = [
  ...['0', '1', '7', '-1', '-0', '1.0', '0.5', '1e0', '1E0', '01', '+1', '1e400', '-1e400', '1e21', '5e-324'],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740992', '100000000000000000000'],
  ...[
    'null',
    'true',
    'false',
    'NaN',
    'undefined',
    '""',
    '"x"',
    '"é"',
    '"\u{1F600}"',
    '"\u2028"',
    '"\u007f"',
    '"\ufffd"',
  ],
  ...['"\\u0041"', '"\\/"', '"\\u001f"', '"\\u001F"', '"\\u000a"', '"\\n"', '"\\ud83d\\ude00"', '"\\\\ud800"', "'x'"],
  ...[
    '"\\ud800"',
    '"\\uD800"',
    '"\\udc00\\ud800"',
    '"a\\udfff"',
    '"\t"',
    '"a\u0000"',
    '[]',
    '["x"]',
    '[1]',
    '[ ]',
    '[1,]',
  ],
  ...['{}', '{"__proto__":null}', '{"toJSON":1}', '{"x":1,"x":1}', '1,"seq":2', '"x","__proto__":{}', '"x" ', ' "x"'],
  ...['[[[[[[[[["x"]]]]]]]]]', '/**/1', '"x"/*"*/'],
];

/** Bytes that break what is around them: invalid UTF-8 among them. */
const SPLICES = [
  ...VALUES.map((text) => Buffer.from(text)),
  ...['ff', 'c0af', 'c3', 'e282', 'eda080', 'f0908080', 'f4908080', 'efbbbf', '00', '0a', '20', '2c', '22', '5c'].map(
    (hex) => Buffer.from(hex, 'hex'),
  ),
];

const anyBody = fc.constantFrom(...bodies);

describe('a deed body read twice', () => {
  it('has one verdict with any text in the place of any value', () => {
    let accepted = 0;
    for (const bytes of bodies) {
      for (const path of leavesOf(JSON.parse(bytes.toString()) as JsonValue)) {
        for (const text of VALUES) accepted += isAccepted(withText(bytes, path, text)) ? 1 : 0;
      }
    }
    // Both kinds of verdict were compared.
    expect(accepted).toBeGreaterThan(100);
  });

  it('has one verdict with any bit flipped', () => {
    const accepted = Array.from({ length: ADMIN.length * 8 }, (_, bit) => {
      const flipped = Buffer.from(ADMIN);
      flipped[bit >> 3] = (ADMIN[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return isAccepted(flipped);
    });
    expect(new Set(accepted)).toEqual(new Set([true, false]));
  });

  it('has one verdict with bytes cut out and put in anywhere (property)', () => {
    const edit = fc.record({
      at: fc.nat(),
      cut: fc.nat({ max: 4 }),
      put: fc.oneof(fc.constantFrom(...SPLICES), fc.uint8Array({ maxLength: 4 })),
    });
    fc.assert(
      fc.property(anyBody, fc.array(edit, { minLength: 1, maxLength: 3 }), (bytes, edits) => {
        verdict(
          edits.reduce((changed, { at, cut, put }) => {
            const place = at % changed.length;
            return Buffer.concat([changed.subarray(0, place), put, changed.subarray(place + cut)]);
          }, bytes),
        );
      }),
      { numRuns: 5_000 },
    );
  });

  it('has one verdict with members in any order (property)', () => {
    const body = JSON.parse(EXECUTED.toString()) as JsonObject;
    const shuffled = (value: JsonValue | undefined) => {
      const members = Object.entries(value as JsonObject);
      return fc.shuffledSubarray(members, { minLength: members.length }).map((entries) => Object.fromEntries(entries));
    };
    fc.assert(
      fc.property(shuffled(body), shuffled(body['action']), (whole, action) => {
        verdict(Buffer.from(JSON.stringify(whole)));
        verdict(Buffer.from(JSON.stringify({ ...body, action })));
      }),
    );
  });

  it('has one verdict with any JSON instead of it, or around it (property)', () => {
    const body = JSON.parse(EXECUTED.toString()) as JsonObject;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        verdict(Buffer.from(JSON.stringify(value)));
        verdict(Buffer.from(JSON.stringify([value, body])));
        verdict(Buffer.from(JSON.stringify({ ...body, action: value })));
      }),
    );
  });

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
    ['objects of a known name', '{"who":', '}'],
  ])('has one verdict and an end, however deep its %s', (_name, open, close) => {
    const depth = Math.floor((MAX_DEED_BYTES - EXECUTED.length) / (open.length + close.length)) - 1;
    const deep = `${open.repeat(depth)}1${close.repeat(depth)}`;
    expect(verdict(Buffer.from(deep))).toBe('not_canonical ');
    expect(verdict(withText(EXECUTED, ['action'], deep))).toBe('not_canonical ');
    expect(verdict(withText(EXECUTED, ['witness', 'reasons'], `[${deep}]`))).toBe('not_canonical ');
    expect(verdict(Buffer.from(open.repeat(depth)))).toBe('not_canonical ');
  });

  it('is known by the expression when it is an ordinary one', () => {
    const expression = new RegExp(`^${deedSchema.canonical}$`);
    expect(bodies.map((bytes) => expression.test(bytes.toString()))).toEqual(bodies.map(() => true));
  });

  // An expression that tried its texts in every way would take longer than any test may, not a little longer.
  it('is refused without a hang, where all its texts are long and only its end is wrong', () => {
    const body = JSON.parse(EXECUTED.toString()) as { policy: JsonObject; witness: JsonObject; who: JsonObject };
    const sentence = '\n'.repeat(1_365);
    const word = 'é'.repeat(85);
    const long = {
      ...body,
      policy: { ...body.policy, code: word, rule_id: word, reason: sentence, message: sentence },
      witness: { ...body.witness, method: word, reasons: Array.from({ length: 32 }, () => word) },
    };
    expect(isAccepted(Buffer.from(canonicalize(long)))).toBe(true);
    expect(verdict(Buffer.from(canonicalize({ ...long, witness: { ...long.witness, verdict: 'NONE' } })))).toBe(
      'schema witness.verdict',
    );
  });

  it('is the same value, whether it came from a file, a slice or an array', () => {
    const padded = Buffer.concat([Buffer.from('{'), EXECUTED, Buffer.from('}')]);
    for (const bytes of [EXECUTED, Uint8Array.from(EXECUTED), padded.subarray(1, -1)]) {
      expect(verdict(bytes)).toBe(EXECUTED.toString());
      expect(Buffer.from(encodeDeedBody(parseDeedBody(bytes))).equals(EXECUTED)).toBe(true);
    }
  });
});
