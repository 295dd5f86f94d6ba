import { describe, expect, it } from 'vitest';
import { testId, testTime } from '../../../../../test/support/given-log.js';
import type { Decision, LivingAction } from '../action/index.js';
import { type ComparedOutcomes, policyOutcomeOf, PolicyPreview } from './policy-preview.js';

const decision = (changes: Partial<Decision>): Decision =>
  ({ outcome: 'deny', code: 'policy_denied', source: 'rule', ...changes }) as Decision;
const action = (number: number, status: string | null = null): LivingAction =>
  ({
    createdAt: testTime(number),
    submission: { action: testId('act', number), tool: 'crm.get', agent: testId('agt', 1), agent_name: 'support-1' },
    approval: status === null ? null : { status },
  }) as unknown as LivingAction;
/** No version is in force, so the draft is compared with the recorded outcome. */
const was = (recorded: Decision['outcome']): ComparedOutcomes => ({ recorded, inForce: null });
const allow = { outcome: 'allow' as const, ruleId: 'one', reason: 'rule one', timeLimitTripped: false };

describe('what the policy of that time said', () => {
  it.each<[Partial<Decision>, Decision['outcome'] | null]>([
    [{ outcome: 'allow', source: 'rule' }, 'allow'],
    [{ outcome: 'deny', source: 'default' }, 'deny'],
    [{ outcome: 'deny', source: 'builtin', code: 'policy_unavailable' }, 'deny'],
    [{ outcome: 'deny', source: 'builtin', code: 'approval_unsatisfiable' }, 'require_approval'],
    [{ outcome: 'deny', source: 'builtin', code: 'tool_unknown' }, null],
    [{ outcome: 'deny', source: 'stop', code: 'agent_stopped' }, null],
    [{ outcome: 'deny', source: 'budget', code: 'budget_exceeded' }, null],
  ])('of %j is %s', (changes, outcome) => expect(policyOutcomeOf({ decision: decision(changes) })).toBe(outcome));
});

describe('a preview', () => {
  it('of no actions has no times', () =>
    expect(new PolicyPreview().result()).toMatchObject({ from: null, to: null, judged: 0, changes: [], samples: [] }));

  it('counts changed outcomes by outcome and rule, the most frequent first', () => {
    const preview = new PolicyPreview();
    preview.add(action(9), was('allow'), allow);
    preview.add(action(8), was('deny'), allow);
    preview.add(action(7), was('require_approval'), {
      outcome: 'deny',
      ruleId: null,
      reason: 'default deny',
      timeLimitTripped: false,
    });
    preview.add(action(6), was('deny'), {
      outcome: 'allow',
      ruleId: 'two',
      reason: 'rule two',
      timeLimitTripped: false,
    });
    preview.add(action(5), was('deny'), allow);
    preview.add(action(4), was('deny'), { ...allow, timeLimitTripped: true });
    preview.skip(action(4), 'payload_removed');
    preview.skip(action(3), 'not_asked');
    expect(preview.result()).toMatchObject({
      from: testTime(3),
      to: testTime(9),
      judged: 5,
      unjudged: 3,
      unjudged_because: { not_asked: 1, payload_removed: 1, payload_damaged: 0, time_limit: 1 },
      same: 1,
      changed: 4,
      changed_from_recorded: 4,
      changes: [
        {
          from: 'deny',
          to: 'allow',
          count: 3,
          by_rule: [
            { rule_id: 'one', count: 2 },
            { rule_id: 'two', count: 1 },
          ],
        },
        { from: 'require_approval', to: 'deny', count: 1, by_rule: [{ rule_id: null, count: 1 }] },
      ],
      human_denied_now_allowed: 0,
    });
  });

  it('shows first the calls that a person denied and the draft allows, and at most fifty', () => {
    const preview = new PolicyPreview();
    for (let number = 200; number > 100; number -= 1) preview.add(action(number), was('deny'), allow);
    preview.add(action(2, 'denied'), was('require_approval'), allow);
    preview.add(action(1, 'approved'), was('require_approval'), allow);
    const { samples, human_denied_now_allowed, changed } = preview.result();
    expect([samples.length, human_denied_now_allowed, changed]).toEqual([50, 1, 102]);
    expect(samples.slice(0, 2)).toMatchObject([
      { action: testId('act', 2), human_denied: true, from: 'require_approval', to: 'allow', reason: 'rule one' },
      { action: testId('act', 200), human_denied: false, agent: { name: 'support-1' } },
    ]);
  });

  it('compares with the version in force if there is one, and still shows the recorded outcome', () => {
    const preview = new PolicyPreview();
    const beside = (recorded: Decision['outcome'], outcome: Decision['outcome']): ComparedOutcomes => ({
      recorded,
      inForce: { outcome, timeLimitTripped: false },
    });
    preview.add(action(4), beside('deny', 'allow'), allow);
    preview.add(action(3), beside('allow', 'deny'), allow);
    preview.add(action(2), beside('deny', 'require_approval'), allow);
    preview.add(action(1), { recorded: 'deny', inForce: { outcome: 'deny', timeLimitTripped: true } }, allow);
    expect(preview.result()).toMatchObject({
      judged: 3,
      unjudged_because: { time_limit: 1 },
      same: 1,
      changed: 2,
      changed_from_recorded: 2,
      changes: [
        { from: 'deny', to: 'allow', count: 1 },
        { from: 'require_approval', to: 'allow', count: 1 },
      ],
      samples: [
        { action: testId('act', 3), from: 'deny', to: 'allow', recorded: 'allow' },
        { action: testId('act', 2), from: 'require_approval', to: 'allow', recorded: 'deny' },
      ],
    });
  });

  it('shows a call that a person denied and the draft allows, even if the version in force allows it', () => {
    const preview = new PolicyPreview();
    const inForce = { outcome: 'allow' as const, timeLimitTripped: false };
    preview.add(action(1, 'denied'), { recorded: 'require_approval', inForce }, allow);
    expect(preview.result()).toMatchObject({
      changed: 0,
      human_denied_now_allowed: 1,
      samples: [{ from: 'allow', to: 'allow', recorded: 'require_approval', human_denied: true }],
    });
  });
});
