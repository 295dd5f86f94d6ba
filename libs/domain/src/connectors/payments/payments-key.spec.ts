import { describe, expect, it } from 'vitest';
import { thrown } from '../../../../../test/support/thrown.js';
import { DomainError } from '../../kernel/index.js';
import { holdsRefusedKey, isSandboxKey, refuseLiveKey } from './payments-key.js';

/** Not one is a key of anybody: the letters after the prefix are made up, and put together here. */
const BODY = '51NoBodysKey00aBcDeFgHiJ';
const SECRET = ['sk', 'live', BODY].join('_');
const wide = (text: string): string =>
  [...text].map((letter) => String.fromCodePoint((letter.codePointAt(0) as number) + 0xfee0)).join('');
const percent = (text: string): string =>
  [...text].map((letter) => `%${(letter.codePointAt(0) as number).toString(16)}`).join('');

describe('a key that could move real money', () => {
  it.each([
    ['as it is', SECRET],
    ['a restricted one', ['rk', 'live', BODY].join('_')],
    ['one of an organization', ['sk', 'org', 'test', BODY].join('_')],
    ['a public one', ['pk', 'test', BODY].join('_')],
    ['one that signs webhooks', ['whsec', BODY].join('_')],
    ['in capitals', SECRET.toUpperCase()],
    ['in full width', wide(SECRET)],
    ['percent-encoded', percent(SECRET)],
    ['percent-encoded twice', percent(percent(SECRET))],
    ['percent-encoded beside a broken escape', `%zz${percent(SECRET)}`],
    ['with an invisible character in its prefix', SECRET.replace('_l', '_\u200bl')],
    ['with a soft hyphen', SECRET.replace('li', 'l\u00adi')],
    ['in quotes, with spaces', ` "${SECRET}"\n`],
    ['cut by a line feed', SECRET.replace('live', 'li\nve')],
    ['after the word Bearer', `Bearer ${SECRET}`],
    ['behind a key of the sandbox', `sk_test_${BODY} ${SECRET}`],
    ['in JSON', JSON.stringify({ token: SECRET })],
  ])('is refused %s', (_, text) => {
    expect(holdsRefusedKey(text)).toBe(true);
    expect(isSandboxKey(text)).toBe(false);
    const refused = thrown(DomainError, () => refuseLiveKey(text));
    expect(refused).toMatchObject({ code: 'payments_live_key_refused', status: 400 });
    expect(JSON.stringify({ ...refused, message: refused.message })).not.toContain(BODY);
  });
});

describe('a key of the sandbox', () => {
  it.each([`sk_test_${BODY}`, `rk_test_${BODY}`, `sk_test_${'a'.repeat(247)}`])('is good: %s', (key) => {
    expect(isSandboxKey(key)).toBe(true);
    expect(() => refuseLiveKey(key)).not.toThrow();
  });

  it.each(['sk_test_short', `sk_test_${'a'.repeat(248)}`, `sk_test_${BODY}_x`, ` sk_test_${BODY}`, 'token', ''])(
    'is not %j, which is no live key either',
    (text) => {
      expect(isSandboxKey(text)).toBe(false);
      expect(holdsRefusedKey(text)).toBe(false);
    },
  );
});
