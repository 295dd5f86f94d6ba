import type { DeedBody } from '#libs/crypto';
import { describe, expect, it } from 'vitest';
import { testId } from '../../../../test/support/given-log.js';
import { aboutOf } from './deed-about.js';

const ACTION = {
  kind: 'action',
  who: { agent: testId('agt', 1) },
  action: { tool: 'crm.get_customer' },
  policy: { outcome: 'allow' },
  approval: null,
  execution: { status: 'succeeded' },
  witness: { level: 'L0', verdict: 'VERIFIED' },
  admin: null,
};

const about = (changes: object) => aboutOf({ ...ACTION, ...changes } as unknown as DeedBody);

describe('what a deed is about', () => {
  it('for an action: its tool, agent and outcome, and the verdict of its witness', () => {
    expect(about({})).toEqual({
      tool: 'crm.get_customer',
      agent: testId('agt', 1),
      outcome: 'succeeded',
      level: 'L0',
      verdict: 'VERIFIED',
    });
  });

  it.each([
    ['unknown', { execution: { status: 'unknown' } }],
    ['failed', { execution: { status: 'failed' } }],
    ['denied', { policy: { outcome: 'deny' }, execution: null }],
    ['denied', { policy: { outcome: 'require_approval' }, approval: { status: 'denied' }, execution: null }],
    ['expired', { policy: { outcome: 'require_approval' }, approval: { status: 'expired' }, execution: null }],
    ['cancelled', { policy: { outcome: 'require_approval' }, approval: { status: 'cancelled' }, execution: null }],
    ['succeeded', { policy: { outcome: 'require_approval' }, approval: { status: 'approved' } }],
  ])('has the outcome %s for %j', (outcome, changes) => {
    expect(about(changes)).toMatchObject({ outcome });
  });

  it('for an amendment: the same, with null for what the amendment does not say', () => {
    const amendment = {
      kind: 'amendment',
      policy: null,
      execution: null,
      witness: { level: 'L2', verdict: 'MISMATCH' },
    };
    expect(about(amendment)).toEqual({
      tool: 'crm.get_customer',
      agent: testId('agt', 1),
      outcome: null,
      level: 'L2',
      verdict: 'MISMATCH',
    });
    expect(about({ ...amendment, witness: null })).toMatchObject({ level: null, verdict: null });
  });

  it('for an admin deed: what was done to which object', () => {
    const target = { type: 'agent', id: testId('agt', 1) };
    const admin = { action: 'agent.stopped', target, reason: 'words', data_digest: null };
    expect(about({ kind: 'admin', action: null, admin })).toEqual({ admin: 'agent.stopped', target });
  });
});
