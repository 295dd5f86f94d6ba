import { describe, expect, it } from 'vitest';
import type { Schemas } from '../kernel/client.ts';
import { pressOf, whyNot, wordsOf } from './decision.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const write = { side_effect: 'write', context_digest: DIGEST } as const;
const destructive = { ...write, side_effect: 'destructive' } as const;

describe('the button of an approval', () => {
  it('scrolls on until the last argument was on the screen', () => {
    expect(pressOf(write, { seenDigest: null, isArmed: false })).toBe('page');
    expect(pressOf(write, { seenDigest: DIGEST, isArmed: false })).toBe('approve');
  });

  it('scrolls on again if the approval context has changed', () => {
    expect(
      pressOf({ ...write, context_digest: `sha256:${'b'.repeat(64)}` }, { seenDigest: DIGEST, isArmed: false }),
    ).toBe('page');
    expect(pressOf({ ...write, context_digest: null }, { seenDigest: DIGEST, isArmed: false })).toBe('page');
  });

  it.each(['destructive', 'unknown'] as const)('is pressed twice if the effect is %s', (effect) => {
    const call = { ...destructive, side_effect: effect };
    expect(pressOf(call, { seenDigest: DIGEST, isArmed: false })).toBe('arm');
    expect(pressOf(call, { seenDigest: DIGEST, isArmed: true })).toBe('approve');
    expect(pressOf(call, { seenDigest: null, isArmed: true })).toBe('page');
  });

  it('says the amount', () => {
    const cost = { amount: 89_000, currency: 'eur', display: '€890.00' };
    expect(wordsOf('approve', cost, false)).toBe('Approve €890.00');
    expect(wordsOf('approve', cost, true)).toBe('Yes, approve €890.00');
    expect(wordsOf('arm', null, false)).toBe('Approve');
    expect(wordsOf('page', cost, false)).toBe('Read on');
  });
});

const approval = (change: object): Schemas['Approval'] =>
  ({
    status: 'pending',
    you: { eligible: true, why_not: null, may_deny: true },
    approvable: true,
    blocked_by: null,
    context: { complete: true },
    ...change,
  }) as Schemas['Approval'];

describe('why a person may not approve', () => {
  it('is given only for a pending approval', () => {
    expect(whyNot(approval({}))).toBeNull();
    expect(whyNot(approval({ status: 'denied', approvable: false }))).toBeNull();
  });

  it.each([
    [{ you: { eligible: false, why_not: 'self_approval', may_deny: true } }, 'on your behalf'],
    [{ you: { eligible: false, why_not: 'already_countersigned', may_deny: true } }, 'You have approved'],
    [{ you: { eligible: false, why_not: 'approver_not_eligible', may_deny: false } }, 'not an approver'],
    [{ context: null }, 'no longer stored'],
    [{ context: { complete: false } }, 'The full request cannot be shown'],
    [{ approvable: false, blocked_by: { code: 'org_stopped', message: 'All are stopped.' } }, 'All are stopped.'],
  ])('is given in words for %j', (change, words) => expect(whyNot(approval(change))).toContain(words));
});
