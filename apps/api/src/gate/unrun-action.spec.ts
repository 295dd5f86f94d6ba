import { describe, expect, it } from 'vitest';
import type { Decision } from '#libs/domain/gate';
import { DomainError } from '#libs/domain/kernel';
import { testId } from '../../../../test/support/given-log.js';
import { actionRow } from '../../../../test/support/given-rows.js';
import { refuseUnrun } from './unrun-action.js';

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
