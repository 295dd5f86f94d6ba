import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../../test/support/given.js';
import {
  accepted,
  failed,
  finished,
  running,
  runningRepeatable,
  START_BY,
  started,
  TIMEOUT_MS,
  typesOf,
} from '../../../../../test/support/gate-fixtures.js';
import { actionDecider } from './action.decider.js';

const given = givenFor(actionDecider);

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

  it('a living executor keeps its execution, whatever the time of day (rule EXEC-5)', () =>
    given(...running)
      .when(giveUp('c1', {}), after(TIMEOUT_MS + 3_600_000))
      .thenNothing());

  it.each([
    ['a once', running],
    ['a repeatable', runningRepeatable],
  ])('%s execution that was watched past its deadline ends, whoever lives and whatever the time of day', (_, events) =>
    expect(
      typesOf(
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

  it('began with its first attempt, however often it was begun again', () => {
    const [event] = given(...runningRepeatable, started('c2', 2, 'repeatable', after(1_000)))
      .when(giveUp('c2', { isPastDeadline: true }), after(5_000))
      .events();
    expect(event?.data).toMatchObject({ started_at: NOW, finished_at: after(5_000) });
  });

  it('the third attempt of a repeatable one ends unknown', () =>
    expect(
      given(...runningRepeatable, started('c2', 2, 'repeatable'), started('c3', 3, 'repeatable'))
        .when(giveUp('c3', silent))
        .events(),
    ).toHaveLength(2));

  it('a claim that is no longer current is not given up', () =>
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
