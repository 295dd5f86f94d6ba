import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { REDACTED } from '#libs/domain/connectors';

import { MAX_SECRETS, Redactor } from './redactor.js';

const SECRET = 'sk_live_"a/b\\c+d=éÖ !(x)\'';
const redactor = new Redactor([SECRET], []);
const bytesOf = (text: string): readonly string[] => Buffer.from(text).toString('hex').match(/../g) ?? [];
const twice = (text: string, form: 'base64' | 'base64url'): string =>
  Buffer.from(Buffer.from(text).toString(form)).toString(form);

describe('redaction of credentials (rule REST-13)', () => {
  it.each<[string, string]>([
    ['raw', SECRET],
    ['JSON-escaped', JSON.stringify(SECRET).slice(1, -1)],
    ['JSON with escaped slashes', JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/')],
    ['URL-encoded', encodeURIComponent(SECRET)],
    ['URL-encoded in lower case', encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase())],
    ['as a form', new URLSearchParams({ k: SECRET }).toString().slice(2)],
    ['base64', Buffer.from(SECRET).toString('base64')],
    ['base64url', Buffer.from(SECRET).toString('base64url')],
    ['hex', Buffer.from(SECRET).toString('hex')],
    ['upper-case hex', Buffer.from(SECRET).toString('hex').toUpperCase()],
    ['hex with spaces', bytesOf(SECRET).join(' ')],
    ['hex with colons', bytesOf(SECRET).join(':').toUpperCase()],
    ['hex with hyphens', bytesOf(SECRET).join('-')],
    ['hex in lines', bytesOf(SECRET).join('\n')],
    ['in lower case', SECRET.toLowerCase()],
    ['base64 of base64', twice(SECRET, 'base64')],
    ['base64url of base64', Buffer.from(Buffer.from(SECRET).toString('base64')).toString('base64url')],
    ['as a header value is read', Buffer.from(SECRET).toString('latin1')],
    ['in a body that says it is Latin-1', new TextDecoder('iso-8859-1').decode(Buffer.from(SECRET))],
  ])('%s', (_, form) => {
    expect(redactor.text(`before ${form} after`)).toBe(`before ${REDACTED} after`);
  });

  const SIGNED = 'tok+en/1<2>&"é😀\'\\x';
  const codes = (form: (codePoint: number) => string) =>
    Array.from(SIGNED, (character) => form(character.codePointAt(0) ?? 0)).join('');
  const named: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&apos;',
  };

  it.each<[string, string]>([
    [
      'one JSON escape that was not needed',
      JSON.stringify(SIGNED)
        .slice(1, -1)
        .replace('+', String.raw`\u002B`),
    ],
    [
      'JSON escapes alone',
      Array.from(
        { length: SIGNED.length },
        (_, at) => `\\u${SIGNED.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join(''),
    ],
    ['URL escapes alone', Buffer.from(SIGNED).toString('hex').replace(/../g, '%$&')],
    ['some URL escapes', encodeURIComponent(SIGNED).replace('tok', '%74o%6B')],
    ['a form with more escapes', encodeURIComponent(SIGNED).replace('en', '%65n')],
    ['named HTML entities', SIGNED.replace(/[&<>"']/g, (character) => named[character] ?? '')],
    ['decimal HTML entities', codes((codePoint) => `&#${codePoint};`)],
    ['hexadecimal HTML entities', codes((codePoint) => `&#x${codePoint.toString(16)};`)],
    ['HTML entities with zeros', codes((codePoint) => `&#${String(codePoint).padStart(12, '0')};`)],
    ['HTML entities without the end', codes((codePoint) => `&#X${codePoint.toString(16).padStart(7, '0')}`)],
    [
      'HTML entities of every name',
      SIGNED.replace('+', '&plus;').replace('/', '&sol;').replace('\\', '&bsol;').replace('&"', '&AMP&QUOT;'),
    ],
  ])('%s', (_, form) => {
    const text = `{"n":12345678901234567890,"t":"before ${form} after"}`;
    expect(new Redactor([SIGNED], []).text(text)).toBe(`{"n":12345678901234567890,"t":"before ${REDACTED} after"}`);
  });

  it.each(['%41%42', '&#65;B', String.raw`\u0041B`])('a very short secret that stands alone as %s', (text) =>
    expect(new Redactor([], ['AB']).json([text, `x${text}`])).toEqual([REDACTED, `x${text}`]),
  );

  it.each([String.raw`\u00zz \x \ `, '%zz%4%', '%ff%c3%28%ed%a0%80', '&#; &#x; &nbsp &#99999999; &#x110000;', '+%2'])(
    'what is no escape stays as it is: %s',
    (text) => {
      expect(new Redactor(['secret'], []).text(`${text} `)).toBe(`${text} `);
      expect(new Redactor(['secret'], []).text(`${text}secret${text}`)).toBe(`${text}${REDACTED}${text}`);
    },
  );

  it('secrets that overlap are removed to the end of the last one', () =>
    expect(new Redactor(['abcdef', 'efghij'], []).text('<abcdefghij>')).toBe(`<${REDACTED}>`));

  it('secrets side by side are two', () =>
    expect(new Redactor(['abcdef'], []).text('abcdefabcdef')).toBe(REDACTED + REDACTED));

  it('inside base64 of anything longer, at every offset', () => {
    const secret = 'canary-0123456789abcdef';
    const inner = new Redactor([secret], []);
    for (let before = 0; before < 6; before += 1) {
      for (let after = 0; after < 4; after += 1) {
        const text = Buffer.from(`${'b'.repeat(before)}${secret}${'a'.repeat(after)}`).toString('base64');
        expect(inner.text(text)).toContain(REDACTED);
      }
    }
  });

  it('inside base64 of base64 of anything longer, at every offset', () => {
    const inner = new Redactor(['canary-0123456789abcdef'], []);
    for (let before = 0; before < 9; before += 1) {
      const text = twice(`${'b'.repeat(before)}canary-0123456789abcdef${'a'.repeat(before)}`, 'base64');
      expect(inner.text(text)).toContain(REDACTED);
    }
  });

  it.each([4, 20, 57, 70, 150])('in base64 of 76-column lines, behind %i other bytes', (before) => {
    const secret = 'canary-0123456789abcdef-0123456789abcdef-0123456789abcdef';
    const lines = (
      Buffer.from(`${'b'.repeat(before)}${secret}after`)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    ).join('\r\n');
    const redacted = new Redactor([secret], []).text(`first line\r\n\r\n${lines}\r\n\r\nlast line`);
    const left = Buffer.from(redacted.replace(/^first line|last line$|\[redacted\]/g, ''), 'base64').toString('latin1');
    expect(redacted).toContain(REDACTED);
    expect(redacted).toMatch(/^first line\r\n\r\n.*\r\n\r\nlast line$/s);
    expect(left).not.toContain('0123456789abcdef');
  });

  it('in strings, member names and numbers of JSON, however deep', () =>
    expect(
      new Redactor(['token-1234'], [4711, { deep: ['pin-9876'] }]).json({
        'x-token-1234': ['a token-1234', { n: 4711, m: 471, s: 'pin-9876!' }],
        plain: [true, null, 1.5],
      }),
    ).toEqual({
      'x-[redacted]': ['a [redacted]', { n: REDACTED, m: 471, s: '[redacted]!' }],
      plain: [true, null, 1.5],
    }));

  it('a very short secret is redacted only where it stands alone', () =>
    expect(new Redactor([], ['ab']).json(['ab', 'cabinet', 7])).toEqual([REDACTED, 'cabinet', 7]));

  it('with more secrets than it searches for, nothing is kept that could hold one', () => {
    const answer = { ok: true, id: 7, rows: [{ name: 'Ada' }, {}, null], note: 'fine' };
    const of = (count: number) => new Redactor([], [Array.from({ length: count }, (_, index) => `secret ${index}`)]);
    expect(of(MAX_SECRETS).json(answer)).toEqual(answer);
    const many = of(MAX_SECRETS + 1);
    expect(many.json(answer)).toEqual({ [REDACTED]: REDACTED });
    expect(many.json([true, 7, {}, null, ['fine']])).toEqual([true, REDACTED, {}, null, [REDACTED]]);
    expect(many.text('fine')).toBe(REDACTED);
  });

  it.each([
    ['1000', 'Meeting\nat 10:00'],
    ['them', 'the man\nof letters'],
    ['Anna', 'An nations\nlist'],
  ])('a short secret, such as %s, leaves ordinary text alone that is spaced', (secret, text) => {
    expect(new Redactor([], [secret]).text(text)).toBe(text);
  });

  it('without secrets nothing changes', () =>
    expect(new Redactor([], []).json({ a: ['x', 1] })).toEqual({ a: ['x', 1] }));

  it('keeps __proto__ as a member', () =>
    expect(JSON.stringify(new Redactor(['secret'], []).json(JSON.parse('{"__proto__":{"a":"secret"}}') as never))).toBe(
      `{"__proto__":{"a":"${REDACTED}"}}`,
    ));

  it('no secret of four characters or more survives, whatever stands around it', () =>
    fc.assert(
      fc.property(
        fc.string({ minLength: 4, maxLength: 40, unit: 'grapheme' }),
        fc.string(),
        fc.string(),
        (secret, a, b) => {
          fc.pre(!REDACTED.includes(secret) && !`${a}${REDACTED}${b}`.includes(secret));
          expect(new Redactor([secret], []).text(`${a}${secret}${b}`)).not.toContain(secret);
        },
      ),
      { numRuns: 1_000 },
    ));
});
