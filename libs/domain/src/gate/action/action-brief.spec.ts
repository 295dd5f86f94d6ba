import { categoryOf } from '../../kernel/index.js';
import { describe, expect, it } from 'vitest';
import type { ArbitraryStream } from '../../../../../test/support/arbitrary-events.js';
import { anyText, arbitraryLog } from '../../../../../test/support/arbitrary-log.js';
import { finished, started, testId, witnessed } from '../../../../../test/support/given-log.js';
import { briefAfter, type ActionBrief } from './action-brief.js';
import { actionDecider, doesFollow } from './action.decider.js';
import type { ActionEvent } from './action.events.js';
import type { Action } from './action.state.js';
import fc from 'fast-check';

const briefOf = (events: readonly ActionEvent[]): ActionBrief | null =>
  events.reduce<ActionBrief | null>(briefAfter, null);

/** The facts that the brief and the whole action have in common. */
const shared = (action: Action) => {
  if (action.state === 'none' || action.state === 'abandoned') return null;
  const { state, submission, decision, approval } = action;
  return {
    state,
    agent: submission.agent,
    tool: submission.tool,
    livemode: submission.livemode,
    decision: decision && { outcome: decision.outcome },
    approval: approval && {
      id: approval.terms.approval,
      status: approval.status,
      terms: { rule_id: approval.terms.rule_id, required: approval.terms.required },
      signatures: approval.signatures.map(({ by }) => ({ by })),
    },
  };
};

/** Events that change nothing in a brief. */
const UNHEARD: readonly ActionEvent['type'][] = [
  ...(['ExecutionStarted', 'ExecutionProgress', 'WitnessReported'] as const),
  ...(['LateReport', 'SubmissionAbandoned'] as const),
];

const actionEventsOf = (log: readonly ArbitraryStream[]): readonly ActionEvent[] =>
  log.filter(({ stream }) => categoryOf(stream) === 'action').flatMap(({ events }) => events as readonly ActionEvent[]);

/** Long event lists of one action: one submission, followed by the events of several arbitrary logs. */
const lives: fc.Arbitrary<readonly ActionEvent[]> = fc
  .array(arbitraryLog(anyText), { minLength: 4, maxLength: 4 })
  .map((logs) => logs.flatMap(actionEventsOf))
  .chain((events) => {
    const [submitted] = events.filter(({ type }) => type === 'ActionSubmitted');
    const others = events.filter(({ type }) => type !== 'ActionSubmitted');
    return fc.shuffledSubarray(others, { minLength: others.length }).map((shuffled) => [submitted!, ...shuffled]);
  });

describe('the brief of an action', () => {
  it('agrees with the whole action after every event, for every stream that the types allow', () => {
    const followed = new Set<ActionEvent['type']>();
    fc.assert(
      fc.property(lives, (events) => {
        let action = actionDecider.initialState();
        let brief: ActionBrief | null = null;
        for (const event of events) {
          const follows = doesFollow(action, event);
          const before: ActionBrief | null = brief;
          action = actionDecider.evolve(action, event);
          brief = briefAfter(brief, event);
          expect(brief).toMatchObject(shared(action) as object);
          if (!UNHEARD.includes(event.type)) expect(brief !== before).toBe(follows);
          if (follows) followed.add(event.type);
        }
      }),
      { numRuns: 300 },
    );
    const never: readonly ActionEvent['type'][] = ['LateReport', 'SubmissionAbandoned'];
    expect(new Set([...followed, ...never])).toEqual(new Set(Object.keys(actionDecider.eventTypes)));
  });

  it('is null for an abandoned id', () => {
    expect(briefOf([{ type: 'SubmissionAbandoned', data: { action: testId('act', 1), at: '' } }])).toBeNull();
  });

  it('is a small part of the action', () => {
    const life = [...started(1), finished(1), witnessed(1)] as const;
    const whole = life.reduce<Action>(actionDecider.evolve, actionDecider.initialState());
    expect(JSON.stringify(briefOf(life)).length * 5).toBeLessThan(JSON.stringify(whole).length);
  });
});
