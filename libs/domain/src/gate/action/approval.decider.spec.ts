import { describe, expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import {
  ACTION,
  APPROVAL,
  asked,
  decided,
  decidedBy,
  edge,
  execution,
  EXPIRES_AT,
  pending,
  requestedApproval,
  running,
  signedBy,
  START_BY,
  started,
  submission,
  submitted,
  TIMEOUT_MS,
  typesOf,
  userId,
  answerOf,
} from '../../../../../test/support/gate-fixtures.js';
import { after, givenFor, NOW } from '../../../../../test/support/given.js';
import type { ApprovalId, UserId } from '../../kernel/index.js';
import { actionDecider } from './action.decider.js';
import { sendableToolDigest, statusOf, type LivingAction } from './action.state.js';
import type { ActionEvent } from './action.events.js';
import { actionOfApproval, approvalOf } from './approval-id.js';
import { openExecutionChange } from '../execution/index.js';

const given = givenFor(actionDecider);
const [anna, ben, cara] = [userId(1), userId(2), userId(3)];
const toolDigest = digestOf('the tool as it is now');

const countersign = (
  by: UserId,
  stillCounting: readonly UserId[] = [],
  approval: ApprovalId = APPROVAL,
  required: number = 1,
) =>
  ({
    type: 'Countersign',
    data: { approval, answer: answerOf(by), stillCounting, required, toolDigest, run: { execution } },
  }) as const;

const deny = (by: UserId) =>
  ({ type: 'DenyApproval', data: { approval: APPROVAL, answer: answerOf(by, { reason: 'Too much.' }) } }) as const;
const expire = { type: 'ExpireApproval', data: {} } as const;
const cancel = { type: 'CancelAction', data: {} } as const;

const readyAgain: ActionEvent = {
  type: 'ExecutionReady',
  data: {
    action: ACTION,
    class: 'once',
    timeout_ms: TIMEOUT_MS,
    start_by: START_BY,
    at: NOW,
    org: submission.org,
    connector: submission.connector,
  },
};
const approved = [
  ...pending(),
  signedBy(answerOf(anna)),
  decidedBy(answerOf(anna), 'approved', toolDigest),
  readyAgain,
];
const expired: ActionEvent = {
  type: 'ApprovalExpired',
  data: { action: ACTION, approval: APPROVAL, at: EXPIRES_AT },
};
const cancelled: ActionEvent = {
  type: 'ActionCancelled',
  data: { action: ACTION, approval: APPROVAL, by: { type: 'operator', id: null }, at: NOW },
};

describe('an action that waits for people', () => {
  it('is pending, and no execution that a sweeper could find', () => {
    const { state } = given(...pending(2));
    expect(statusOf(state as LivingAction, false)).toBe('pending_approval');
    expect(openExecutionChange(pending(2)[2] as ActionEvent)).toEqual({ change: 'close', action: ACTION });
  });

  it('cannot be claimed', () =>
    given(...pending())
      .when({ type: 'ClaimExecution', data: { executor: 'exe_1', claim: 'c1', supersedes: null, mayHaveRun: false } })
      .thenNothing());

  it('is not started by a forged claim in the log', () =>
    expect(given(...pending(), started('c1')).state).toMatchObject({ state: 'pending_approval', attempts: [] }));
});

describe('a signature', () => {
  it('approves the call if one is enough, and makes the execution ready in the same append', () =>
    given(...pending())
      .when(countersign(anna))
      .then(signedBy(answerOf(anna)), decidedBy(answerOf(anna), 'approved', toolDigest), readyAgain));

  it('lets the edge run a call of proxy mode', () => {
    const run = { edge } as const;
    const events = given(...pending())
      .when({
        type: 'Countersign',
        data: { approval: APPROVAL, answer: answerOf(anna), stillCounting: [], required: 1, toolDigest, run },
      })
      .events();
    expect(typesOf(events)).toEqual(['ApprovalCountersigned', 'ApprovalDecided', 'EdgeAuthorized']);
  });

  it('waits for another if two are needed', () =>
    given(...pending(2))
      .when(countersign(anna))
      .then(signedBy(answerOf(anna))));

  it('waits for as many as the rule asks for now, and never for fewer than at first', () => {
    given(...pending(1))
      .when(countersign(anna, [], APPROVAL, 2))
      .then(signedBy(answerOf(anna)));
    given(...pending(2))
      .when(countersign(anna, [], APPROVAL, 1))
      .then(signedBy(answerOf(anna)));
  });

  it('approves the call if it is the last that was needed', () => {
    const events = given(...pending(2), signedBy(answerOf(anna)))
      .when(countersign(ben, [anna]))
      .events();
    expect(typesOf(events)).toEqual(['ApprovalCountersigned', 'ApprovalDecided', 'ExecutionReady']);
  });

  it('is named in the approval if it counted', () => {
    const decided = given(...pending(2), signedBy(answerOf(anna)), signedBy(answerOf(cara)))
      .when(countersign(ben, [anna]))
      .events()
      .find(({ type }) => type === 'ApprovalDecided');
    expect(decided?.data).toMatchObject({ by: ben, counted: [anna, ben] });
  });

  it('does not complete an approval with one that no longer counts', () =>
    given(...pending(2), signedBy(answerOf(anna)))
      .when(countersign(ben, []))
      .then(signedBy(answerOf(ben))));

  it('is not given twice by one person', () =>
    given(...pending(2), signedBy(answerOf(anna)))
      .when(countersign(anna, [anna]))
      .thenRefuses('already_countersigned'));

  it('may be given again if the first no longer counts', () =>
    given(...pending(2), signedBy(answerOf(anna)))
      .when(countersign(anna, []))
      .then(signedBy(answerOf(anna))));

  it('of one person counts once, even if it is recorded several times', () =>
    given(...pending(3), signedBy(answerOf(anna)), signedBy(answerOf(anna)))
      .when(countersign(ben, [anna, anna]))
      .then(signedBy(answerOf(ben))));

  it('opens the execution again, which was closed while it waited', () =>
    expect(openExecutionChange(readyAgain)).toEqual({
      change: 'open',
      execution: { action: ACTION, org: submission.org, connector: submission.connector },
    }));

  it('is for this approval and no other', () =>
    given(...pending())
      .when(countersign(anna, [], 'apr_00000000000000000000000002' as ApprovalId))
      .thenRefuses('not_found'));

  it('is refused if no approval was requested', () =>
    given(...running)
      .when(countersign(anna))
      .thenRefuses('not_found'));
});

describe('a denial', () => {
  it('by one person is enough, even after signatures', () =>
    given(...pending(3), signedBy(answerOf(anna)))
      .when(deny(ben))
      .then(decidedBy(answerOf(ben, { reason: 'Too much.' }), 'denied')));

  it('may come from a person who signed before', () => {
    const events = given(...pending(2), signedBy(answerOf(anna)))
      .when(deny(anna))
      .events();
    expect(typesOf(events)).toEqual(['ApprovalDecided']);
  });

  it('ends the action: it is recorded and denied, with the person who did', () => {
    const state = given(...pending(), decidedBy(answerOf(ben), 'denied')).state as LivingAction;
    expect(state).toMatchObject({ state: 'recorded', sealingRevision: 3 });
    expect(state.approval).toMatchObject({ status: 'denied', decidedBy: { type: 'user', id: ben }, decidedAt: NOW });
    expect(statusOf(state, true)).toBe('denied');
  });
});

describe('the expiry of an approval', () => {
  it('ends an undecided approval, at that very moment and not before', () => {
    given(...pending())
      .when(expire, after(3_599_999))
      .thenNothing();
    given(...pending())
      .when(expire, EXPIRES_AT)
      .then(expired);
  });

  it('refuses every decision from that very moment on, even before a sweep', () => {
    given(...pending())
      .when(countersign(anna), EXPIRES_AT)
      .thenRefuses('approval_expired');
    given(...pending())
      .when(deny(anna), EXPIRES_AT)
      .thenRefuses('approval_expired');
    given(...pending(), expired)
      .when(countersign(anna), NOW)
      .thenRefuses('approval_expired');
  });

  it('changes nothing if the approval was decided', () => {
    given(...approved)
      .when(expire, EXPIRES_AT)
      .thenNothing();
    given(...pending(), cancelled)
      .when(expire, EXPIRES_AT)
      .thenNothing();
  });

  it('has no person who decided', () =>
    expect((given(...pending(), expired).state as LivingAction).approval).toMatchObject({
      status: 'expired',
      decidedAt: EXPIRES_AT,
      decidedBy: null,
    }));
});

describe('cancelling', () => {
  it('ends an action that waits for approval', () =>
    given(...pending(2), signedBy(answerOf(anna)))
      .when(cancel)
      .then(cancelled));

  it('is refused after an approval, after the end, and after the expiry', () => {
    given(...approved)
      .when(cancel)
      .thenRefuses('conflict');
    given(...pending(), cancelled)
      .when(cancel)
      .thenRefuses('conflict');
    given(...pending())
      .when(cancel, EXPIRES_AT)
      .thenRefuses('conflict');
    given(...running)
      .when(cancel)
      .thenRefuses('conflict');
  });
});

describe('of approval, denial, expiry and cancellation', () => {
  const ends = {
    approved,
    denied: [...pending(), decidedBy(answerOf(ben), 'denied')],
    cancelled: [...pending(), cancelled],
  };

  it.each(Object.entries(ends))('only the first ends the action (INV-13): %s', (_, events) => {
    given(...events)
      .when(countersign(cara))
      .thenRefuses('approval_decided');
    given(...events)
      .when(deny(cara))
      .thenRefuses('approval_decided');
    given(...events)
      .when(expire, EXPIRES_AT)
      .thenNothing();
    given(...events)
      .when(cancel)
      .thenRefuses('conflict');
  });

  it.each(Object.entries({ ...ends, expired: [...pending(), expired] }))(
    'none changes one that is already in the log (INV-18): %s',
    (_, events) => {
      const before = (given(...events).state as LivingAction).approval;
      for (const late of [signedBy(answerOf(cara)), decidedBy(answerOf(cara), 'denied'), expired, cancelled]) {
        expect((given(...events, late).state as LivingAction).approval, late.type).toEqual(before);
      }
    },
  );
});

describe('a forged approval in the log', () => {
  const yes = (counted: readonly UserId[]) => decidedBy(answerOf(anna), 'approved', toolDigest, counted);

  it.each([
    ['by nobody', []],
    ['by too few', [anna]],
    ['by one person twice', [anna, anna]],
    ['by a person who has not signed', [anna, cara]],
  ])('changes nothing: %s', (_, counted) =>
    expect(
      given(...pending(2), signedBy(answerOf(anna)), signedBy(answerOf(ben)), yes(counted), readyAgain).state,
    ).toEqual(expect.objectContaining({ state: 'pending_approval', ready: null })),
  );

  it('counts if the recorded signatures support it', () =>
    expect(
      given(...pending(2), signedBy(answerOf(anna)), signedBy(answerOf(ben)), yes([anna, ben])).state,
    ).toMatchObject({
      state: 'executing',
      approval: { status: 'approved', counted: [anna, ben], decidedUnder: answerOf(anna).context_digest },
    }));

  it('does not count if the policy asked for no approval', () =>
    expect((given(...running, requestedApproval()).state as LivingAction).approval).toBeNull());

  it('cannot be left out: a call that waits for people runs by no other event', () =>
    expect(given(submitted, decided(asked), readyAgain).state).toMatchObject({ ready: null }));
});

describe('the tool that may be sent', () => {
  it('is the one that a person has seen', () =>
    expect(sendableToolDigest(given(...approved).state as LivingAction)).toBe(toolDigest));

  it('is the one that was judged if no approval was needed', () =>
    expect(sendableToolDigest(given(...running).state as LivingAction)).toBe(submission.tool_digest));
});

describe('the id of an approval', () => {
  it('is that of its action under another prefix', () => {
    expect(approvalOf(ACTION)).toBe(APPROVAL);
    expect(actionOfApproval(APPROVAL)).toBe(ACTION);
  });

  it.each(['act_00000000000000000000000001', 'apr_short', '', 'apr_0000000000000000000000000u'])(
    'is not made of %j',
    (text) => expect(actionOfApproval(text)).toBeNull(),
  );

  it('finds no approval before the action was submitted', () =>
    given(submitted)
      .when(countersign(anna, [], approvalOf(ACTION)))
      .thenRefuses('not_found'));
});

describe('an approval that is signed with a passkey', () => {
  const digest = digestOf('what the passkey signed');
  const waiting = (required = 1): ActionEvent[] => [
    submitted,
    decided(asked),
    requestedApproval(required, { signed: true }),
  ];
  const signing = (by: UserId, stillCounting: readonly UserId[] = []) => {
    const { type, data } = countersign(by, stillCounting);
    return { type, data: { ...data, answer: answerOf(by, { assertion_digest: digest }) } } as const;
  };

  it('takes no yes without one', () => {
    given(...waiting())
      .when(countersign(anna))
      .thenRefuses('approval_needs_passkey');
    given(...waiting(2), signedBy(answerOf(anna, { assertion_digest: digest })))
      .when(countersign(ben, [anna]))
      .thenRefuses('approval_needs_passkey');
  });

  it('names what it signed in the signature and in the decision', () => {
    const answer = answerOf(anna, { assertion_digest: digest });
    given(...waiting())
      .when(signing(anna))
      .then(signedBy(answer), decidedBy(answer, 'approved', toolDigest), readyAgain);
  });

  it('is denied without one: a device that was lost hinders no no', () => {
    given(...waiting())
      .when(deny(ben))
      .then(decidedBy(answerOf(ben, { reason: 'Too much.' }), 'denied'));
  });

  it('is not approved by an event that was forged without one', () => {
    const folded = [...waiting(), signedBy(answerOf(anna)), decidedBy(answerOf(anna), 'approved', toolDigest)].reduce(
      actionDecider.evolve,
      actionDecider.initialState(),
    ) as LivingAction;
    expect(folded.approval).toMatchObject({ status: 'pending', signatures: [] });
  });
});
