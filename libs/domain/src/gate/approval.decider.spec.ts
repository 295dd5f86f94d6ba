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
  wordOf,
} from '../../../../test/support/gate-fixtures.js';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import type { ApprovalId, UserId } from '../kernel/index.js';
import { actionDecider } from './action.decider.js';
import { sendableToolDigest, statusOf, type LivingAction } from './action.state.js';
import type { ActionEvent } from './action.events.js';
import { actionOfApproval, approvalOf } from './approval-id.js';
import { openExecutionChange } from './execution.process.js';

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
    data: { approval, word: wordOf(by), stillCounting, required, toolDigest, run: { execution } },
  }) as const;

const deny = (by: UserId) =>
  ({ type: 'DenyApproval', data: { approval: APPROVAL, word: wordOf(by, { reason: 'Too much.' }) } }) as const;
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
const approved = [...pending(), signedBy(wordOf(anna)), decidedBy(wordOf(anna), 'approved', toolDigest), readyAgain];
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

  it('is not begun by a claim that somebody else has put into the log', () =>
    expect(given(...pending(), started('c1')).state).toMatchObject({ state: 'pending_approval', attempts: [] }));
});

describe('a signature', () => {
  it('is the yes where one is enough, and makes the execution ready in the same append', () =>
    given(...pending())
      .when(countersign(anna))
      .then(signedBy(wordOf(anna)), decidedBy(wordOf(anna), 'approved', toolDigest), readyAgain));

  it('lets the edge run a call of proxy mode', () => {
    const run = { edge } as const;
    const events = given(...pending())
      .when({
        type: 'Countersign',
        data: { approval: APPROVAL, word: wordOf(anna), stillCounting: [], required: 1, toolDigest, run },
      })
      .events();
    expect(typesOf(events)).toEqual(['ApprovalCountersigned', 'ApprovalDecided', 'EdgeAuthorized']);
  });

  it('waits for another where two are needed', () =>
    given(...pending(2))
      .when(countersign(anna))
      .then(signedBy(wordOf(anna))));

  it('waits for as many as the rule asks for by now, and never for fewer than when people were asked', () => {
    given(...pending(1))
      .when(countersign(anna, [], APPROVAL, 2))
      .then(signedBy(wordOf(anna)));
    given(...pending(2))
      .when(countersign(anna, [], APPROVAL, 1))
      .then(signedBy(wordOf(anna)));
  });

  it('is the yes when it is the last that was needed', () => {
    const events = given(...pending(2), signedBy(wordOf(anna)))
      .when(countersign(ben, [anna]))
      .events();
    expect(typesOf(events)).toEqual(['ApprovalCountersigned', 'ApprovalDecided', 'ExecutionReady']);
  });

  it('stands in the yes by name when it counted', () => {
    const decided = given(...pending(2), signedBy(wordOf(anna)), signedBy(wordOf(cara)))
      .when(countersign(ben, [anna]))
      .events()
      .find(({ type }) => type === 'ApprovalDecided');
    expect(decided?.data).toMatchObject({ by: ben, counted: [anna, ben] });
  });

  it('does not complete one that counts no more', () =>
    given(...pending(2), signedBy(wordOf(anna)))
      .when(countersign(ben, []))
      .then(signedBy(wordOf(ben))));

  it('is not given twice by one person', () =>
    given(...pending(2), signedBy(wordOf(anna)))
      .when(countersign(anna, [anna]))
      .thenRefuses('already_countersigned'));

  it('may be given again where the first counts no more', () =>
    given(...pending(2), signedBy(wordOf(anna)))
      .when(countersign(anna, []))
      .then(signedBy(wordOf(anna))));

  it('of one person counts once, however often it stands there', () =>
    given(...pending(3), signedBy(wordOf(anna)), signedBy(wordOf(anna)))
      .when(countersign(ben, [anna, anna]))
      .then(signedBy(wordOf(ben))));

  it('opens the execution again, which was closed while it waited', () =>
    expect(openExecutionChange(readyAgain)).toEqual({
      change: 'open',
      execution: { action: ACTION, org: submission.org, connector: submission.connector },
    }));

  it('is for this approval and no other', () =>
    given(...pending())
      .when(countersign(anna, [], 'apr_00000000000000000000000002' as ApprovalId))
      .thenRefuses('not_found'));

  it('is refused where nobody is asked', () =>
    given(...running)
      .when(countersign(anna))
      .thenRefuses('not_found'));
});

describe('a no', () => {
  it('of one person is enough, whoever has signed', () =>
    given(...pending(3), signedBy(wordOf(anna)))
      .when(deny(ben))
      .then(decidedBy(wordOf(ben, { reason: 'Too much.' }), 'denied')));

  it('may be said by somebody who signed before', () => {
    const events = given(...pending(2), signedBy(wordOf(anna)))
      .when(deny(anna))
      .events();
    expect(typesOf(events)).toEqual(['ApprovalDecided']);
  });

  it('ends the action: it is recorded, denied, and says who did', () => {
    const state = given(...pending(), decidedBy(wordOf(ben), 'denied')).state as LivingAction;
    expect(state).toMatchObject({ state: 'recorded', sealingRevision: 3 });
    expect(state.approval).toMatchObject({ status: 'denied', decidedBy: { type: 'user', id: ben }, decidedAt: NOW });
    expect(statusOf(state, true)).toBe('denied');
  });
});

describe('the end of the time', () => {
  it('expires what nobody decided, at that very moment and not before', () => {
    given(...pending())
      .when(expire, after(3_599_999))
      .thenNothing();
    given(...pending())
      .when(expire, EXPIRES_AT)
      .then(expired);
  });

  it('refuses every word from that very moment on, swept or not', () => {
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

  it('changes nothing of what was decided', () => {
    given(...approved)
      .when(expire, EXPIRES_AT)
      .thenNothing();
    given(...pending(), cancelled)
      .when(expire, EXPIRES_AT)
      .thenNothing();
  });

  it('is decided by nobody', () =>
    expect((given(...pending(), expired).state as LivingAction).approval).toMatchObject({
      status: 'expired',
      decidedAt: EXPIRES_AT,
      decidedBy: null,
    }));
});

describe('cancelling', () => {
  it('ends what waits for a person', () =>
    given(...pending(2), signedBy(wordOf(anna)))
      .when(cancel)
      .then(cancelled));

  it('is refused once a person has said yes, when it has ended, and when its time is over', () => {
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

describe('of yes, no, expiry and cancellation', () => {
  const ends = {
    approved,
    denied: [...pending(), decidedBy(wordOf(ben), 'denied')],
    cancelled: [...pending(), cancelled],
  };

  it.each(Object.entries(ends))('one is the end (INV-13): %s', (_, events) => {
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
    'none changes another that stands in the log (INV-18): %s',
    (_, events) => {
      const before = (given(...events).state as LivingAction).approval;
      for (const late of [signedBy(wordOf(cara)), decidedBy(wordOf(cara), 'denied'), expired, cancelled]) {
        expect((given(...events, late).state as LivingAction).approval, late.type).toEqual(before);
      }
    },
  );
});

describe('a yes that somebody else has put into the log', () => {
  const yes = (counted: readonly UserId[]) => decidedBy(wordOf(anna), 'approved', toolDigest, counted);

  it.each([
    ['by nobody', []],
    ['by too few', [anna]],
    ['by one person twice', [anna, anna]],
    ['by a person who has not signed', [anna, cara]],
  ])('changes nothing: %s', (_, counted) =>
    expect(given(...pending(2), signedBy(wordOf(anna)), signedBy(wordOf(ben)), yes(counted), readyAgain).state).toEqual(
      expect.objectContaining({ state: 'pending_approval', ready: null }),
    ),
  );

  it('is the yes where the signatures bear it out', () =>
    expect(given(...pending(2), signedBy(wordOf(anna)), signedBy(wordOf(ben)), yes([anna, ben])).state).toMatchObject({
      state: 'executing',
      approval: { status: 'approved', counted: [anna, ben], decidedUnder: wordOf(anna).context_digest },
    }));

  it('no approval is asked for where the policy asked for none', () =>
    expect((given(...running, requestedApproval()).state as LivingAction).approval).toBeNull());

  it('cannot be left out: a call that waits for people runs by no other event', () =>
    expect(given(submitted, decided(asked), readyAgain).state).toMatchObject({ ready: null }));
});

describe('the tool that may be sent', () => {
  it('is the one that a person has seen', () =>
    expect(sendableToolDigest(given(...approved).state as LivingAction)).toBe(toolDigest));

  it('is the one that was judged where nobody had to be asked', () =>
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

  it('is that of no action before it was submitted', () =>
    given(submitted)
      .when(countersign(anna, [], approvalOf(ACTION)))
      .thenRefuses('not_found'));
});
