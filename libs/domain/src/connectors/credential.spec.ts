import { describe, expect, it } from 'vitest';

import type { JsonValue } from '#libs/crypto';

import { thrown } from '../../../../test/support/thrown.js';
import { DomainError } from '../kernel/index.js';
import { readCredential } from './credential.js';

const refusal = (kind: string, secret: JsonValue | undefined): DomainError =>
  thrown(DomainError, () => readCredential(kind, secret));

describe('credential write body', () => {
  it.each<[string, JsonValue, string[]]>([
    ['bearer', { token: 'sk_live_abc' }, ['token']],
    ['header', { value: 'Token abc' }, ['value']],
    ['basic', { username: 'robot', password: 'pass wörd' }, ['username', 'password']],
    ['query', { value: 'a&b' }, ['value']],
    ['database', { username: 'agent', password: 'pass wörd' }, ['username', 'password']],
    [
      'database',
      { witness_password: 'w', witness_username: 'witness', password: 'p', username: 'agent' },
      ['username', 'password', 'witness_username', 'witness_password'],
    ],
    ['none', {}, []],
  ])('%s has its fields', (kind, secret, fields) =>
    expect(readCredential(kind, secret).facts).toEqual({ kind, fields, hint: null }),
  );

  it.each<[string, string, JsonValue | undefined]>([
    ['kind', 'oauth', {}],
    ['kind', 'constructor', {}],
    ['secret', 'bearer', 'token'],
    ['secret', 'bearer', ['token']],
    ['secret.token', 'bearer', undefined],
    ['secret.token', 'bearer', {}],
    ['secret.token', 'bearer', { token: '' }],
    ['secret.token', 'bearer', { token: 5 }],
    ['secret.token', 'bearer', { token: 'two words' }],
    ['secret.token', 'bearer', { token: 'a\r\nX: 1' }],
    ['secret.token', 'bearer', { token: 'x'.repeat(16_385) }],
    ['secret.value', 'header', { value: 'a\nb' }],
    ['secret.value', 'header', { value: 'é' }],
    ['secret.value', 'header', { value: ' a' }],
    ['secret.username', 'basic', { username: 'a:b', password: 'x' }],
    ['secret.password', 'basic', { username: 'a' }],
    ['secret.password', 'basic', { username: 'a', password: 'x\u0000' }],
    ['secret.value', 'query', { value: '\ud800' }],
    ['secret.extra', 'bearer', { token: 'a', extra: 'b' }],
    ['secret.tokn', 'bearer', { tokn: 'b' }],
    ['secret.username', 'bearer', { username: 'b' }],
    ['secret.value', 'none', { value: 'b' }],
    ['secret.password', 'database', { username: 'a' }],
    ['secret.username', 'database', { username: 'x'.repeat(64), password: 'p' }],
    ['secret.username', 'database', { username: 'a\n', password: 'p' }],
    ['secret.password', 'database', { username: 'a', password: 'p\u0000' }],
    ['secret.witness_password', 'database', { username: 'a', password: 'p', witness_username: 'w' }],
    ['secret.witness_username', 'database', { username: 'a', password: 'p', witness_password: 'w' }],
    ['secret.witness_username', 'database', { username: 'a', password: 'p', witness_username: '' }],
  ])('%s: kind %s with %j is refused, by name', (param, kind, secret) => {
    const error = refusal(kind, secret);
    expect(error).toMatchObject({ code: 'validation_failed', status: 400, param });
    expect(error.message).toContain(`${param} `);
  });

  it('no refusal repeats a value', () => {
    const canary = 'canary value';
    expect(refusal('bearer', { token: canary }).message).not.toContain('canary');
    expect(refusal('basic', { username: 'canary:x', password: 'y' }).message).not.toContain('canary');
    expect(refusal('bearer', { token: 'x', extra: canary }).message).not.toContain('canary');
  });

  it('shows the last characters of a long secret and nothing of a short one', () => {
    expect(readCredential('bearer', { token: `${'x'.repeat(20)}9f3a` }).facts.hint).toBe('9f3a');
    expect(readCredential('bearer', { token: 'short-token-9f3a' }).facts.hint).toBeNull();
  });

  it('of a database it shows the password of the agents’ role, whether or not there is a witness', () => {
    const agent = { username: 'a', password: `${'x'.repeat(20)}9f3a` };
    const witness = { witness_username: 'w', witness_password: 'y'.repeat(30) };
    for (const secret of [agent, { ...agent, ...witness }])
      expect(readCredential('database', secret).facts.hint).toBe('9f3a');
  });
});
