import { describe, expect, it } from 'vitest';
import type { Decision } from '#libs/domain/gate';
import { DomainError } from '#libs/domain/kernel';
import { testId } from '../../../../test/support/given-log.js';
import { actionRow } from '../../../../test/support/given-rows.js';
import { refusalOf, refuseUnrun } from './unrun-action.js';

const RETRY_AT = '2026-10-02T00:00:00.000Z';
const DENIED: Decision = {
  outcome: 'deny',
  code: 'budget_exceeded',
  source: 'budget',
  rule_id: null,
  reason: 'budget daily',
  message: 'Used up.',
  policy: null,
  policy_version: null,
  retry_at: RETRY_AT,
};

const refusalAt = (now: string, isReplay: boolean): DomainError => {
  const action = { ...actionRow(1).folded, decision: DENIED };
  const read = { action, deed: testId('deed', 1), events: [], deeds: [] };
  try {
    refuseUnrun(read, {}, { hasKey: true, isReplay, nowMs: Date.parse(now) });
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

describe('a refusal by a budget', () => {
  it.each([
    ['when it is made', '2026-10-01T23:58:43.000Z', false, 77],
    ['told again, counts down to the same reset', '2026-10-01T23:59:59.001Z', true, 1],
    ['told again after it, says that the wait is over', RETRY_AT, true, 0],
    ['told again long after it, too', '2026-12-24T00:00:00.000Z', true, 0],
  ])('%s', (_, now, isReplay, seconds) => {
    const { code, message, retryAfterSeconds } = refusalAt(now, isReplay);
    expect([code, message, retryAfterSeconds]).toEqual(['budget_exceeded', 'Used up.', seconds]);
  });
});

describe('a refusal that is told again', () => {
  const told = (idempotency_key_hash: string | null): string | undefined => {
    const { folded } = actionRow(1);
    const decision = { ...DENIED, code: 'agent_stopped', source: 'stop', message: 'Stopped.' } as const;
    const action = { ...folded, decision, submission: { ...folded.submission, idempotency_key_hash } };
    return refusalOf(action, true)?.message;
  };

  it('says how to go on to whoever sent a key, and to whoever sent none', () => {
    expect(told('a'.repeat(64))).toBe(
      'This agent was stopped when the call was made, and that refusal is the answer to its Idempotency-Key. Once it is resumed, send the call with a new Idempotency-Key.',
    );
    expect(told(null)).toBe('This agent was stopped when the call was made. Once it is resumed, make the call again.');
  });
});
