import { describe, expect, it } from 'vitest';
import { SigningKey } from '#libs/crypto';
import { thrown } from '../../../../../test/support/thrown.js';
import { DomainError } from '../../kernel/index.js';
import type { AgentSettings } from '../agent.commands.js';
import { checkedPublicKey, checkedScopes, checkedSettings } from './checked-settings.js';

const refusal = (work: () => unknown): object => {
  const { code, param, status } = thrown(DomainError, work);
  return { code, param, status };
};
const refusedFor = (param: string, status = 400) => ({ code: 'validation_failed', param, status });
const labels = (number: number) => Object.fromEntries(Array.from({ length: number }, (_, index) => [`l${index}`, '']));

describe('labels', () => {
  it.each([[labels(16)], [{ team: 'support', 'a-b_9': '😀'.repeat(128) }], [{ [`a${'b'.repeat(31)}`]: '' }]])(
    'may be %j',
    (sent) => expect(checkedSettings({ labels: sent })).toEqual({ labels: sent }),
  );
  it.each([
    [labels(17), 'labels'],
    [{ Team: 'x' }, 'labels'],
    [{ '': 'x' }, 'labels'],
    [{ '9a': 'x' }, 'labels'],
    [{ [`a${'b'.repeat(32)}`]: 'x' }, 'labels'],
    [{ team: 'x'.repeat(129) }, 'labels.team'],
    [{ team: 'two\nlines' }, 'labels.team'],
    [{ team: 7 }, 'labels.team'],
    [{ team: null }, 'labels.team'],
  ])('may not be %j', (sent, param) =>
    expect(refusal(() => checkedSettings({ labels: sent as Record<string, string> }))).toEqual(refusedFor(param)),
  );
});

describe('budgets', () => {
  const judged = (budgets: unknown) => () => checkedSettings({ budgets } as AgentSettings);

  it.each([
    [{}],
    [{ calls_per_day: 1 }],
    [{ calls_per_day: null }],
    [{ calls_per_day: Number.MAX_SAFE_INTEGER, spend_per_day: { amount: 1, currency: 'eur' } }],
    [{ spend_per_day: null }],
  ])('may be %j', (budgets) => expect(judged(budgets)()).toEqual({ budgets }));
  it.each([
    [{ calls_per_day: 0 }, 'budgets.calls_per_day'],
    [{ calls_per_day: -1 }, 'budgets.calls_per_day'],
    [{ calls_per_day: 1.5 }, 'budgets.calls_per_day'],
    [{ spend_per_day: { amount: 0, currency: 'eur' } }, 'budgets.spend_per_day.amount'],
    [{ spend_per_day: { amount: 0.5, currency: 'eur' } }, 'budgets.spend_per_day.amount'],
    [{ spend_per_day: { amount: 1, currency: 'EUR' } }, 'budgets.spend_per_day.currency'],
    [{ spend_per_day: { amount: 1, currency: 'euro' } }, 'budgets.spend_per_day.currency'],
  ])('may not be %j', (budgets, param) => expect(refusal(judged(budgets))).toEqual(refusedFor(param)));
});

describe('scopes', () => {
  it('are at least one, each once, in one order', () => {
    expect(checkedScopes(['actions:read', 'actions:execute', 'actions:read'])).toEqual([
      'actions:execute',
      'actions:read',
    ]);
    expect(refusal(() => checkedScopes([]))).toEqual(refusedFor('scopes'));
  });
});

describe('a public key', () => {
  const { publicKey } = SigningKey.generate();
  const spelt = (hex: string) => `ed25519:${Buffer.from(hex, 'hex').toString('base64url')}`;

  it('has the kid of its bytes', () => expect(checkedPublicKey(publicKey.text).kid).toBe(publicKey.kid));

  it.each([
    ['of small order: the identity', spelt(`01${'00'.repeat(31)}`)],
    ['of small order: of order 8', spelt('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')],
    ['spelt in another way', spelt(`ee${'ff'.repeat(30)}7f`)],
    ['off the curve', spelt(`02${'00'.repeat(31)}`)],
    ['without its prefix', publicKey.text.slice('ed25519:'.length)],
    ['with padding', `${publicKey.text}=`],
    ['one character short', publicKey.text.slice(0, -1)],
    ['of another algorithm', publicKey.text.replace('ed25519', 'ed448')],
    ['that is no text', 7],
    ['that is nothing', null],
  ])('%s is refused with 422', (_what, text) =>
    expect(refusal(() => checkedPublicKey(text))).toEqual(refusedFor('public_key', 422)),
  );
});
