import { describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import { testId, testTime } from '../../../../test/support/given-log.js';
import type { PolicyDecision } from '../policies/index.js';
import type { RecordedCall } from './recorded-calls.port.js';
import type { ReplayOutcome } from './replay.js';
import { NAMES_MAX, ReplaySums, SAMPLE_MAX, saidByPolicy } from './replay-sums.js';

const call = (number: number, changes: Partial<RecordedCall> = {}): RecordedCall => ({
  action: testId('act', number),
  createdAt: testTime(number),
  agent: testId('agt', 1),
  tool: 'crm.get_customer',
  decision: 'deny',
  errorCode: 'policy_denied',
  approval: null,
  inputDigest: digestOf('input'),
  input: null,
  ...changes,
});
/** Nothing was in force: compared is what was decided then. */
const was = (said: ReplayOutcome) => ({ said, from: said });
const ALLOWS: PolicyDecision = {
  outcome: 'allow',
  code: null,
  source: 'rule',
  ruleId: 'read',
  reason: 'rule read',
  message: null,
  approval: null,
  timeLimitTripped: false,
};

describe('the sums of a replay', () => {
  it('count what a person denied and the candidate allows, and nothing else that people were asked about', () => {
    const sums = new ReplaySums();
    const asked = { decision: 'require_approval', errorCode: null } as const;
    for (const approval of ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const) {
      sums.add(call(1, { ...asked, approval }), was('require_approval'), ALLOWS);
    }
    sums.add(call(2, { ...asked, approval: 'denied' }), was('require_approval'), {
      ...ALLOWS,
      outcome: 'require_approval',
    });
    expect(sums.result()).toMatchObject({ allows_denied_by_person: 1, allows_never_asked: 0 });
  });

  it('count what was refused without asking anybody and the candidate allows', () => {
    const sums = new ReplaySums();
    sums.add(call(1), was('deny'), ALLOWS);
    sums.add(call(2, { errorCode: 'approval_unsatisfiable' }), was('require_approval'), ALLOWS);
    sums.add(call(3, { decision: 'allow', errorCode: null }), was('allow'), ALLOWS);
    expect(sums.result()).toMatchObject({ allows_denied_by_person: 0, allows_never_asked: 2 });
  });

  it('compare with what is given, and count apart what was decided otherwise then', () => {
    const sums = new ReplaySums();
    sums.add(call(1), { said: 'deny', from: 'allow' }, ALLOWS);
    sums.add(call(2), { said: 'allow', from: 'deny' }, ALLOWS);
    expect(sums.result()).toMatchObject({
      changed_from_recorded: 1,
      changes: [{ from: 'deny', to: 'allow', count: 1, sample: [testId('act', 2)] }],
    });
    expect(new ReplaySums(sums.stored()).result()).toEqual(sums.result());
  });

  it('go on from what an older version stored, which compared with what was decided then', () => {
    const before = new ReplaySums();
    before.add(call(1), was('deny'), ALLOWS);
    before.add(call(2), was('allow'), ALLOWS);
    const { changedFromRecorded, ...stored } = before.stored();
    expect(changedFromRecorded).toBe(1);
    expect(new ReplaySums(stored).result()).toEqual(before.result());
  });

  it('stay small, however many tools are named', () => {
    const sums = new ReplaySums();
    for (let number = 0; number < 3 * NAMES_MAX; number += 1) {
      sums.add(call(number, { tool: `made.up_${number}` }), was('deny'), ALLOWS);
    }
    const { by_tool: byTool, changes } = sums.result();
    expect(byTool).toHaveLength(NAMES_MAX + 1);
    expect(byTool[0]).toEqual({
      tool: null,
      judged: 2 * NAMES_MAX,
      changed: 2 * NAMES_MAX,
      allow: 2 * NAMES_MAX,
      require_approval: 0,
      deny: 0,
    });
    expect(changes).toEqual([
      {
        from: 'deny',
        to: 'allow',
        rule_id: 'read',
        source: 'rule',
        count: 3 * NAMES_MAX,
        sample: Array.from({ length: SAMPLE_MAX }, (_, number) => testId('act', number)),
      },
    ]);
  });
});

describe('what the policy of that time said', () => {
  it.each([
    ['allow', null, 'allow'],
    ['allow', 'upstream_error', 'allow'],
    ['require_approval', null, 'require_approval'],
    ['deny', 'policy_denied', 'deny'],
    ['deny', 'policy_unavailable', 'deny'],
    ['deny', 'approval_unsatisfiable', 'require_approval'],
  ] as const)('of a call recorded as %s (%s) was %s', (decision, errorCode, said) =>
    expect(saidByPolicy({ decision, errorCode })).toBe(said),
  );

  it.each(['org_stopped', 'agent_stopped', 'agent_suspended', 'tool_unknown', 'intent_invalid', 'budget_exceeded'])(
    'is not on record where %s refused the call',
    (errorCode) => expect(saidByPolicy({ decision: 'deny', errorCode })).toBeNull(),
  );
});
