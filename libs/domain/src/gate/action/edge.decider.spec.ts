import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../../test/support/given.js';
import {
  ACTION,
  allowed,
  atTheEdge,
  decided,
  denied,
  EDGE_DEADLINE,
  edgeReported,
  edgeSucceeded,
  running,
  submission,
  submitted,
  typesOf,
} from '../../../../../test/support/gate-fixtures.js';
import { actionDecider } from './action.decider.js';
import type { ActionEvent, EdgeReport } from './action.events.js';
import { statusOf, type LivingAction } from './action.state.js';

const given = givenFor(actionDecider);

const report = (told: EdgeReport = edgeSucceeded) => ({ type: 'ReportEdge', data: { report: told } }) as const;
const giveUp = { type: 'GiveUpEdge', data: {} } as const;

const edgeFailed: EdgeReport = {
  ...edgeSucceeded,
  status: 'failed',
  error_code: 'no_such_customer',
  error_message: 'There is no customer 42.',
};
const edgeUnknown: EdgeReport = { ...edgeFailed, status: 'unknown', error_code: 'connection_reset' };

const lastMs = Date.parse(EDGE_DEADLINE) - Date.parse(NOW);
const lost = given(...atTheEdge).when(giveUp, EDGE_DEADLINE).events;
const sealedBy = (events: readonly ActionEvent[]): string | undefined => {
  const { sealingRevision } = given(...events).state as LivingAction;
  return events[sealingRevision ?? -1]?.type;
};

describe('a call that its agent runs itself', () => {
  it('is authorized in the append that accepts it, and leaves the service nothing to execute', () =>
    given()
      .when({
        type: 'SubmitAction',
        data: {
          submission: { ...submission, mode: 'proxy' },
          decision: allowed,
          execution: null,
          edge: { deadline: EDGE_DEADLINE },
          claimant: null,
        },
      })
      .then(...atTheEdge));

  it('has the state executing and the status authorized until it is reported', () => {
    const action = given(...atTheEdge).state as LivingAction;
    expect([action.state, statusOf(action, false)]).toEqual(['executing', 'authorized']);
    const reported = given(...atTheEdge, edgeReported(edgeSucceeded)).state as LivingAction;
    expect([reported.state, statusOf(reported, false)]).toEqual(['witnessing', 'processing']);
  });

  it.each([
    [
      'never claimed by an executor',
      { type: 'ClaimExecution', data: { executor: 'exe_1', claim: 'c1', supersedes: null, mayHaveRun: false } },
    ],
    ['never failed for want of one', { type: 'ExpireStart', data: {} }],
  ] as const)('is %s', (_title, command) =>
    given(...atTheEdge)
      .when(command, after(lastMs))
      .thenNothing(),
  );

  it('cannot be cancelled, because the tool may have run', () =>
    given(...atTheEdge)
      .when({ type: 'CancelAction', data: {} })
      .thenRefuses('conflict'));
});

describe('the report of an edge', () => {
  it('of a success is VERIFIED by the word of the agent alone, and its witness is the sealing event', () => {
    const events = given(...atTheEdge)
      .when(report())
      .events();
    expect(events[0]).toEqual(edgeReported(edgeSucceeded));
    expect(events[1]?.data).toMatchObject({ level: 'L0', verdict: 'VERIFIED', method: 'edge_reported', reasons: [] });
    expect(sealedBy([...atTheEdge, ...events])).toBe('ActionWitnessed');
  });

  it('of a failure has no witness, and is itself the sealing event', () => {
    const events = given(...atTheEdge)
      .when(report(edgeFailed))
      .events();
    expect(events).toEqual([edgeReported(edgeFailed)]);
    expect(sealedBy([...atTheEdge, ...events])).toBe('EdgeReported');
    expect(statusOf(given(...atTheEdge, ...events).state as LivingAction, true)).toBe('failed');
  });

  it('of an unknown outcome is UNVERIFIABLE, with the error code of the agent as its reason', () => {
    const [, witness] = given(...atTheEdge)
      .when(report(edgeUnknown))
      .events();
    expect(witness?.data).toMatchObject({
      verdict: 'UNVERIFIABLE',
      method: 'edge_reported',
      reasons: ['connection_reset'],
    });
  });

  it('of an unknown outcome has a reason even without an error code', () => {
    const [, witness] = given(...atTheEdge)
      .when(report({ ...edgeUnknown, error_code: null }))
      .events();
    expect(witness?.data).toMatchObject({ reasons: ['unknown'] });
  });

  it('sets the outcome, in the words of the agent and by its clock', () => {
    const { outcome } = given(...atTheEdge, edgeReported(edgeFailed, after(100))).state as LivingAction;
    expect(outcome).toEqual({
      status: 'failed',
      error_code: 'no_such_customer',
      error_message: 'There is no customer 42.',
      result_digest: edgeFailed.result_digest,
      started_at: NOW,
      finished_at: after(20),
      latency_ms: 20,
    });
  });

  it('counts until the last millisecond before its deadline', () =>
    expect(
      typesOf(
        given(...atTheEdge)
          .when(report(), after(lastMs - 1))
          .events(),
      )[0],
    ).toBe('EdgeReported'));

  it.each([
    ['at the deadline, though nobody has looked yet', atTheEdge, after(lastMs)],
    ['after it was given up', [...atTheEdge, ...lost()], after(lastMs + 1)],
  ])('is too late %s', (_title, events, at) => {
    const late = () =>
      given(...events)
        .when(report(), at)
        .events();
    expect(late).toThrow(
      expect.objectContaining({
        code: 'conflict',
        message: expect.stringMatching(
          /deadline.* is or will shortly be recorded as unknown.*\. Check the tool itself\.$/,
        ),
      }),
    );
  });

  it.each([
    ['a second time', [...atTheEdge, edgeReported(edgeFailed)]],
    ['of a call that the service runs itself', running],
    ['of a call that was refused', [submitted, decided(denied)]],
  ])('is refused %s', (_title, events) =>
    given(...events)
      .when(report())
      .thenRefuses('conflict'),
  );

  it('of an unknown action is not found', () => given().when(report()).thenRefuses('not_found'));
});

describe('a call whose report does not come', () => {
  it('is given up at its deadline: unknown, UNVERIFIABLE, edge_lost', () => {
    const events = lost();
    expect(events[0]).toEqual({ type: 'EdgeLost', data: { action: ACTION, at: EDGE_DEADLINE } });
    expect(events[1]?.data).toMatchObject({ verdict: 'UNVERIFIABLE', method: 'none', reasons: ['edge_lost'] });
    expect(sealedBy([...atTheEdge, ...events])).toBe('ActionWitnessed');
    const action = given(...atTheEdge, ...events).state as LivingAction;
    expect(action.outcome).toMatchObject({ status: 'unknown', error_code: 'timeout', started_at: null });
    expect(statusOf(action, true)).toBe('executed');
  });

  it('is not given up a millisecond before', () =>
    given(...atTheEdge)
      .when(giveUp, after(lastMs - 1))
      .thenNothing());

  it.each([
    ['that was reported', [...atTheEdge, edgeReported(edgeFailed)]],
    ['that was given up', [...atTheEdge, ...lost()]],
    ['that the service runs itself', running],
  ])('is not one %s', (_title, events) =>
    given(...events)
      .when(giveUp, after(lastMs))
      .thenNothing(),
  );
});
