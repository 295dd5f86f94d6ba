import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../../test/support/given.js';
import {
  accepted,
  decided,
  denied,
  failed,
  finished,
  running,
  runningRepeatable,
  START_BY,
  started,
  submission,
  submitted,
  succeeded,
  TIMEOUT_MS,
  typesOf,
} from '../../../../../test/support/gate-fixtures.js';
import { actionDecider } from './action.decider.js';
import type { ActionEvent } from './action.events.js';
import type { LivingAction } from './action.state.js';

const given = givenFor(actionDecider);

describe('claiming an execution', () => {
  const claim = (supersedes: string | null, token = 'c2', mayHaveRun = false) =>
    ({ type: 'ClaimExecution', data: { executor: 'exe_1', claim: token, supersedes, mayHaveRun } }) as const;

  it('the first claim starts attempt 1 with a deadline of its own', () =>
    given(...accepted)
      .when(claim(null, 'c1'))
      .then(started('c1')));

  it('a second first claim gets nothing: a job delivered twice runs once', () =>
    given(...running)
      .when(claim(null))
      .thenNothing());

  it('nothing is claimed after start_by', () =>
    given(...accepted)
      .when(claim(null), START_BY)
      .thenNothing());

  it('a once execution is never claimed again', () =>
    given(...running)
      .when(claim('c1'))
      .thenNothing());

  it('a repeatable one goes on under the deadline of attempt 1', () =>
    given(...runningRepeatable)
      .when(claim('c1'), after(500))
      .then(started('c2', 2, 'repeatable', after(500))));

  it.each([
    ['its claimer cannot say what the attempt before did', false, true, true],
    ['the attempt before knew of one that may have run', true, false, true],
    ['every attempt before certainly did not', false, false, false],
  ])('a repeatable one remembers whether it may have run: %s', (_, before, now, expected) =>
    given(...runningRepeatable, started('c2', 2, 'repeatable', NOW, before))
      .when(claim('c2', 'c3', now))
      .then(started('c3', 3, 'repeatable', NOW, expected)),
  );

  it('a claim that follows another claim than the current one gets nothing', () =>
    given(...runningRepeatable, started('c2', 2, 'repeatable'))
      .when(claim('c1', 'c3'))
      .thenNothing());

  it('there is no attempt 4', () =>
    given(...runningRepeatable, started('c2', 2, 'repeatable'), started('c3', 3, 'repeatable'))
      .when(claim('c3', 'c4'))
      .thenNothing());

  it('nothing is repeated past the deadline', () =>
    given(...runningRepeatable)
      .when(claim('c1'), after(TIMEOUT_MS))
      .thenNothing());

  it('a refused action has nothing to claim', () => given(submitted, decided(denied)).when(claim(null)).thenNothing());

  it('an unknown action is not found', () => given().when(claim(null)).thenRefuses('not_found'));
});

describe('recording an outcome', () => {
  const record = (claim: string, outcome = succeeded, withdrawn: string | null = null) =>
    ({ type: 'RecordOutcome', data: { claim, outcome, withdrawn } }) as const;

  it('failed after an attempt that may have run is unknown: that attempt may have been applied (INV-03)', () => {
    const [outcome, witness] = given(...runningRepeatable, started('c2', 2, 'repeatable', NOW, true))
      .when(record('c2', failed))
      .events();
    expect(outcome?.data).toMatchObject({ status: 'unknown', error_code: failed.error_code });
    expect(witness?.data).toMatchObject({ verdict: 'UNVERIFIABLE', reasons: ['earlier_attempt_unknown'] });
  });

  it('a read that failed has failed: there was nothing to apply', () => {
    const read: ActionEvent = { type: 'ActionSubmitted', data: { ...submission, side_effect: 'read', at: NOW } };
    const events = given(read, ...runningRepeatable.slice(1), started('c2', 2, 'repeatable', NOW, true))
      .when(record('c2', failed))
      .events();
    expect(events).toHaveLength(1);
    expect(events[0]?.data).toMatchObject({ status: 'failed' });
  });

  it('an outcome after another claim is evidence and changes nothing', () => {
    const events = given(...runningRepeatable, started('c2', 2, 'repeatable'))
      .when(record('c1'))
      .events();
    expect(typesOf(events)).toEqual(['LateReport']);
  });

  it.each([
    ['came to stand in the log', [started('c2', 2, 'repeatable')]],
    ['did not', []],
  ])('an outcome is not lost to a next claim that was withdrawn and %s', (_, next) =>
    given(...runningRepeatable, ...next)
      .when(record('c1', failed, 'c2'))
      .then(finished(failed, 'c1')),
  );

  it('an outcome is only evidence if another executor has claimed since the withdrawn claim', () => {
    const events = given(...runningRepeatable, started('c2', 2, 'repeatable'), started('c3', 3, 'repeatable'))
      .when(record('c1', failed, 'c2'))
      .events();
    expect(typesOf(events)).toEqual(['LateReport']);
  });

  it('an outcome after an outcome is evidence and changes nothing', () => {
    const ended = [...running, finished(failed, 'c1')];
    const late = given(...ended)
      .when(record('c1'))
      .events();
    expect(typesOf(late)).toEqual(['LateReport']);
    const before = given(...ended).state as LivingAction;
    expect(given(...ended, ...late).state).toEqual({ ...before, revision: before.revision + 1 });
  });

  it('an outcome without a claim is refused', () =>
    given(...running)
      .when(record('c9'))
      .thenRefuses('conflict'));
});
