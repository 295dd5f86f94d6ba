import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import {
  ACTION,
  allowed,
  decided,
  denied,
  failed,
  finished,
  ready,
  START_BY,
  started,
  submission,
  submitted,
  succeeded,
  TIMEOUT_MS,
} from '../../../../test/support/gate-fixtures.js';
import type { Claimant } from './action.commands.js';
import { actionDecider } from './action.decider.js';
import type { ActionEvent } from './action.events.js';
import { statusOf, type LivingAction } from './action.state.js';

const given = givenFor(actionDecider);
const claimant: Claimant = { executor: 'exe_1', claim: 'c1' };
const execution = { class: 'once' as const, timeoutMs: TIMEOUT_MS, startBy: START_BY };
const accepted = [submitted, decided(allowed), ready()];
const running = [...accepted, started('c1')];
const runningRepeatable = [submitted, decided(allowed), ready('repeatable'), started('c1', 1, 'repeatable')];

const outcomeOf = (events: readonly ActionEvent[]) => events.map(({ type }) => type);

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

  it('a refusal is recorded by the decision itself', () => {
    const state = given(submitted, decided(denied)).state as LivingAction;
    expect(state).toMatchObject({ state: 'recorded', sealingRevision: 1, witness: null });
    expect(statusOf(state, true)).toBe('denied');
  });
});

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

  it('success comes with the tool’s own word as witness', () => {
    const events = given(...running)
      .when(record('c1'))
      .events();
    expect(outcomeOf(events)).toEqual(['ExecutionFinished', 'ActionWitnessed']);
    expect(events[1]?.data).toMatchObject({ level: 'L0', verdict: 'VERIFIED', method: 'reported' });
  });

  it('what certainly did not run has no witness', () =>
    given(...running)
      .when(record('c1', failed))
      .then(finished(failed, 'c1')));

  it('an unknown outcome is UNVERIFIABLE', () => {
    const unknown = { ...succeeded, status: 'unknown' as const, error_code: 'timeout' as const };
    const [, witness] = given(...running)
      .when(record('c1', unknown))
      .events();
    expect(witness?.data).toMatchObject({ verdict: 'UNVERIFIABLE', method: 'none', reasons: ['timeout'] });
  });

  it('failed after an attempt that may have run is unknown: nobody can say that it was not applied (INV-03)', () => {
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
    expect(outcomeOf(events)).toEqual(['LateReport']);
  });

  it.each([
    ['came to stand in the log', [started('c2', 2, 'repeatable')]],
    ['did not', []],
  ])('an outcome is not lost to a next claim that was withdrawn and %s', (_, next) =>
    given(...runningRepeatable, ...next)
      .when(record('c1', failed, 'c2'))
      .then(finished(failed, 'c1')),
  );

  it('an outcome is evidence once somebody else has claimed what was withdrawn', () => {
    const events = given(...runningRepeatable, started('c2', 2, 'repeatable'), started('c3', 3, 'repeatable'))
      .when(record('c1', failed, 'c2'))
      .events();
    expect(outcomeOf(events)).toEqual(['LateReport']);
  });

  it('an outcome after an outcome is evidence and changes nothing', () => {
    const ended = [...running, finished(failed, 'c1')];
    const late = given(...ended)
      .when(record('c1'))
      .events();
    expect(outcomeOf(late)).toEqual(['LateReport']);
    const before = given(...ended).state as LivingAction;
    expect(given(...ended, ...late).state).toEqual({ ...before, revision: before.revision + 1 });
  });

  it('an outcome that nobody claimed is refused', () =>
    given(...running)
      .when(record('c9'))
      .thenRefuses('conflict'));

  it('the witness is the sealing event of what ran, the outcome of what did not', () => {
    const ran = [
      ...running,
      ...given(...running)
        .when(record('c1'))
        .events(),
    ];
    expect(given(...ran).state).toMatchObject({ state: 'recorded', sealingRevision: 5 });
    expect(given(...running, finished(failed, 'c1')).state).toMatchObject({ state: 'recorded', sealingRevision: 4 });
  });

  it('a terminal state never changes (INV-18)', () => {
    const ended = [...running, finished(failed, 'c1')];
    expect((given(...ended, ...accepted.slice(1)).state as LivingAction).sealingRevision).toBe(4);
  });
});

describe('giving up an execution', () => {
  const giveUp = (claim: string, seen: { isExecutorSilent?: boolean; isPastDeadline?: boolean }) =>
    ({ type: 'GiveUpExecution', data: { claim, isExecutorSilent: false, isPastDeadline: false, ...seen } }) as const;
  const silent = { isExecutorSilent: true };
  const overdue = { isPastDeadline: true };

  it('a once execution whose executor is silent ends unknown, never failed and never twice', () => {
    const events = given(...running)
      .when(giveUp('c1', silent))
      .events();
    expect(events[0]?.data).toMatchObject({ status: 'unknown', error_code: 'timeout' });
    expect(events[1]?.data).toMatchObject({ verdict: 'UNVERIFIABLE', reasons: ['executor_lost'] });
  });

  it('a living executor keeps its execution, whatever the time of day (F-11)', () =>
    given(...running)
      .when(giveUp('c1', {}), after(TIMEOUT_MS + 3_600_000))
      .thenNothing());

  it.each([
    ['a once', running],
    ['a repeatable', runningRepeatable],
  ])('%s execution that was watched past its deadline ends, whoever lives and whatever the time of day', (_, events) =>
    expect(
      outcomeOf(
        given(...events)
          .when(giveUp('c1', overdue), after(-3_600_000))
          .events(),
      ),
    ).toEqual(['ExecutionFinished', 'ActionWitnessed']),
  );

  it('a repeatable one in time is left for another attempt', () =>
    given(...runningRepeatable)
      .when(giveUp('c1', silent))
      .thenNothing());

  it('the third attempt of a repeatable one ends unknown', () =>
    expect(
      given(...runningRepeatable, started('c2', 2, 'repeatable'), started('c3', 3, 'repeatable'))
        .when(giveUp('c3', silent))
        .events(),
    ).toHaveLength(2));

  it('a claim that is no longer current is nobody’s to give up', () =>
    given(...runningRepeatable, started('c2', 2, 'repeatable'))
      .when(giveUp('c1', silent))
      .thenNothing());

  it('an ended execution stays as it ended', () =>
    given(...running, finished(failed, 'c1'))
      .when(giveUp('c1', { ...silent, ...overdue }), after(TIMEOUT_MS))
      .thenNothing());
});

describe('an execution that nobody claimed', () => {
  const expire = { type: 'ExpireStart', data: {} } as const;

  it('fails at start_by with nothing sent', () => {
    const [event] = given(...accepted)
      .when(expire, START_BY)
      .events();
    expect(event?.data).toMatchObject({ status: 'failed', error_code: 'service_unavailable', claim: null, attempt: 0 });
  });

  it('is left alone before', () =>
    given(...accepted)
      .when(expire)
      .thenNothing());
  it('is left alone once claimed', () =>
    given(...running)
      .when(expire, START_BY)
      .thenNothing());
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

describe('an event that this service does not write there', () => {
  const witnessedSuccess: ActionEvent = {
    type: 'ActionWitnessed',
    data: {
      action: ACTION,
      at: NOW,
      level: 'L0',
      verdict: 'VERIFIED',
      method: 'reported',
      reasons: [],
      summary: 'It said so.',
      evidence_digest: null,
      diff_rows: 0,
    },
  };
  const denial = [submitted, decided(denied)];
  const success = [...running, finished(succeeded, 'c1'), witnessedSuccess];
  const failure = [...running, finished(failed, 'c1')];
  const ends = { denial, success, failure };
  const written: readonly ActionEvent[] = [...success, ...failure, ...denial];

  it.each(Object.entries(ends))('changes nothing of how an action ended (INV-18): %s', (_title, events) => {
    const over = given(...events).state as LivingAction;
    for (const event of written) {
      const { revision, ...rest } = given(...events, event).state as LivingAction;
      expect({ ...rest, revision: revision - 1 }, event.type).toEqual(over);
    }
  });

  it.each([
    ['a decision', [submitted, decided(allowed)], decided(denied)],
    ['another claim before it is ready', [submitted, decided(allowed)], started('c1')],
    ['an outcome before it is ready', [submitted, decided(allowed)], finished(succeeded, 'c1')],
    ['its submission', running, submitted],
  ])('changes nothing of one that goes on: %s', (_title, events, event) => {
    const before = given(...events).state as LivingAction;
    expect(given(...events, event).state).toEqual({ ...before, revision: before.revision + 1 });
  });
});
