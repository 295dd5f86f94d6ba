import { describe, expect, it } from 'vitest';
import { givenFor, NOW } from '../../../../../test/support/given.js';
import {
  accepted,
  ACTION,
  allowed,
  decided,
  denied,
  failed,
  finished,
  running,
  started,
  submitted,
  succeeded,
} from '../../../../../test/support/gate-fixtures.js';
import { actionDecider } from './action.decider.js';
import type { ActionEvent } from './action.events.js';
import type { LivingAction } from './action.state.js';

const given = givenFor(actionDecider);

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

  it('a terminal state never changes (INV-18)', () => {
    const ended = [...running, finished(failed, 'c1')];
    expect((given(...ended, ...accepted.slice(1)).state as LivingAction).sealingRevision).toBe(4);
  });

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
