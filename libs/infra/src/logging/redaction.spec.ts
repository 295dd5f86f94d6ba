import { describe, expect, it } from 'vitest';
import { DomainError, StoreUnavailable } from '#libs/domain/kernel';
import { redactAttributes, redactText } from './redaction.js';

const secret = `svc_live_${'a1b2c3d4'}_${'k'.repeat(32)}`;

describe('redactText', () => {
  it.each([
    [`Bearer ${secret}`, 'Bearer svc_live_[redacted]'],
    [secret.replace('live', 'test'), 'svc_test_[redacted]'],
    [`two: ${secret},${secret}.`, 'two: svc_live_[redacted],svc_live_[redacted].'],
    ['postgres://ags:p@ss@db:5432/ags?x=1', 'postgres://[redacted]@db:5432/ags?x=1'],
    ['smtps://ags:p@ss@mail.example:465', 'smtps://[redacted]@mail.example:465'],
    ['see HTTPS://user@host/a@b', 'see HTTPS://[redacted]@host/a@b'],
    ['no userinfo: https://host/a@b', 'no userinfo: https://host/a@b'],
  ])('rewrites %j to %j', (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  it.each([
    ['letters', 'a'],
    ['schemes', 'x://'],
    ['beginnings of keys', 'svc_live_'],
  ])('looks at the first 16,384 characters alone, whatever follows: %s', (_, piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    const first = text.slice(0, 16_384);
    expect(redactText(text)).toBe(`${redactText(first)}[cut]`);
  });
});

describe('redactAttributes', () => {
  it.each([
    ...['authorization', 'Cookie', 'set-cookie', 'PASSWORD', 'secret', 'Token', 'api_key', 'dsn', 'DATABASE_URL'],
    ...['apiKey', 'databaseUrl', 'SMTP_URL', 'smtpUrl', 'Set_Cookie', 'credentials', 'proxy-authorization'],
  ])('drops an attribute named %s, also inside groups', (name) => {
    const redacted = redactAttributes({ [name]: 'canary', group: { list: [{ [name]: { deep: 'canary' } }] } });
    expect(JSON.stringify(redacted)).not.toContain('canary');
  });

  it('keeps names that only resemble secret ones', () => {
    expect(redactAttributes({ secret_hint: 'abcd', tokens_used: 3 })).toEqual({ secret_hint: 'abcd', tokens_used: 3 });
  });

  it.each<[string, unknown]>([
    ['the message of an error', new Error(secret)],
    ['the cause of an error', new Error('outer', { cause: new Error(secret) })],
    ['a cause that is a plain value', new Error('outer', { cause: { password: 'p', note: secret } })],
    ['an aggregate of errors', new AggregateError([new Error(secret)], 'several')],
    [
      'a map',
      new Map<string, unknown>([
        ['token', 'plain'],
        ['note', secret],
      ]),
    ],
    ['a set', new Set([secret])],
    ['bytes', Buffer.from(secret)],
    ['a URL', new URL(`https://name:${secret}@host/`)],
    ['an attribute name', { [secret]: 1 }],
  ])('finds a key in %s', (_, value) => {
    const written = JSON.stringify(redactAttributes({ value }));
    expect(written).not.toContain('k'.repeat(32));
    expect(written).not.toContain('plain');
  });

  it('drops what an error carries beside its message', () => {
    const error = Object.assign(new Error('refused'), {
      code: 'E_REFUSED',
      request: { authorization: 'x' },
      body: 'y',
    });
    expect(redactAttributes({ error })).toEqual({
      error: { name: 'Error', code: 'E_REFUSED', message: 'refused', stack: error.stack },
    });
  });

  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  it.each<[string, Error]>([
    [
      'a store that is away',
      new StoreUnavailable('no answer', { cause: new Error('the node', { cause: new Error('UNAVAILABLE') }) }),
    ],
    ['a server that is not there', Object.assign(new AggregateError([refused], 'several'), { code: 'ECONNREFUSED' })],
    ['a vault whose database is not there', new DomainError('vault_unavailable', { cause: refused })],
  ])('writes no stack of %s, and what was said all the same', (_, error) => {
    const written = JSON.stringify(redactAttributes({ error }));
    expect(written).not.toContain('stack');
    expect(written).toMatch(/UNAVAILABLE|connect ECONNREFUSED/);
  });

  it.each<[string, Error]>([
    ['a defect', new TypeError('ours')],
    ['an answer for a defect', new DomainError('internal_error', { cause: new TypeError('ours') })],
    ['a refusal that hides one', new DomainError('vault_unavailable', { cause: new TypeError('ours') })],
  ])('writes the stack of %s', (_, error) => {
    expect(JSON.stringify(redactAttributes({ error }))).toContain('redaction.spec');
  });

  it('ends on cycles and deep groups', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(JSON.stringify(redactAttributes({ cycle }))).toContain('[deeper]');
  });

  it('writes values that JSON has no form for', () => {
    expect(
      redactAttributes({ big: 1n, never: undefined, date: new Date(0), bad: new Date(NaN), run: () => 1 }),
    ).toEqual({
      big: '1',
      never: undefined,
      date: '1970-01-01T00:00:00.000Z',
      bad: '[invalid date]',
      run: '[function]',
    });
  });
});
