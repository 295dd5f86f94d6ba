import { describe, expect, it } from 'vitest';
import { givenFor, NOW } from '../../../../../test/support/given.js';
import {
  accepted,
  ACTION,
  allowed,
  claimant,
  decided,
  denied,
  execution,
  running,
  submission,
  submitted,
} from '../../../../../test/support/gate-fixtures.js';
import { actionDecider } from './action.decider.js';
import { statusOf, type LivingAction } from './action.state.js';

const given = givenFor(actionDecider);

describe('submitting an action', () => {
  it('records the request and the decision in one append', () =>
    given()
      .when({ type: 'SubmitAction', data: { submission, decision: denied, execution: null, claimant: null } })
      .then(submitted, decided(denied)));

  it('an allowed one is ready to be claimed by a worker', () =>
    given()
      .when({ type: 'SubmitAction', data: { submission, decision: allowed, execution, claimant: null } })
      .then(...accepted));

  it('an accepting process that executes itself claims in the same append', () =>
    given()
      .when({ type: 'SubmitAction', data: { submission, decision: allowed, execution, claimant } })
      .then(...running));

  it('an id that exists is a conflict: the append at no_stream is the claim of the key', () =>
    given(...accepted)
      .when({ type: 'SubmitAction', data: { submission, decision: allowed, execution, claimant: null } })
      .thenRefuses('conflict'));

  it('an abandoned id is a conflict too', () =>
    given({ type: 'SubmissionAbandoned', data: { action: ACTION, at: NOW } })
      .when({ type: 'SubmitAction', data: { submission, decision: allowed, execution, claimant: null } })
      .thenRefuses('conflict'));

  it('the decision holds the charges', () => {
    const charge = {
      budget: 'pol_1/daily',
      period: 'day:2026-10-01',
      calls: 1,
      amount: null,
      currency: null,
      limit: 10,
      starts_at: '2026-10-01T00:00:00.000Z',
      resets_at: '2026-10-02T00:00:00.000Z',
    };
    const data = { submission, decision: allowed, execution: null, claimant: null, charges: [charge] };
    const charged = {
      type: 'ActionDecided',
      data: { action: ACTION, decision: allowed, charges: [charge], at: NOW },
    } as const;
    given().when({ type: 'SubmitAction', data }).then(submitted, charged);
    expect((given(submitted, charged).state as LivingAction).charges).toEqual([charge]);
    expect((given(submitted, decided(allowed)).state as LivingAction).charges).toEqual([]);
  });

  it('a refusal is recorded by the decision itself', () => {
    const state = given(submitted, decided(denied)).state as LivingAction;
    expect(state).toMatchObject({ state: 'recorded', sealingRevision: 1, witness: null });
    expect(statusOf(state, true)).toBe('denied');
  });
});

describe('abandoning a submission', () => {
  const abandon = { type: 'AbandonSubmission', data: { action: ACTION } } as const;

  it('takes an id that has no stream', () =>
    given()
      .when(abandon)
      .then({ type: 'SubmissionAbandoned', data: { action: ACTION, at: NOW } }));
  it('does nothing to an action that exists', () =>
    given(...accepted)
      .when(abandon)
      .thenNothing());
});
