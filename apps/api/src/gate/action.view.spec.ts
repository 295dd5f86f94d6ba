import { describe, expect, it } from 'vitest';
import { actionDecider, type LivingAction } from '#libs/domain/gate';
import { atTheEdge, EDGE_DEADLINE } from '../../../../test/support/gate-fixtures.js';
import { givenFor } from '../../../../test/support/given.js';
import { actionView } from './action.view.js';

const DEADLINE_MS = Date.parse(EDGE_DEADLINE);

describe('an action that its agent may run', () => {
  const action = givenFor(actionDecider)(...atTheEdge).state as LivingAction;
  const shownAt = (nowMs: number) =>
    actionView({ action, deed: null }, { baseUrl: 'https://ags.example.com', clock: { nowMs: () => nowMs } });

  it('is to be run until the last millisecond before its deadline', () =>
    expect(shownAt(DEADLINE_MS - 1)).toMatchObject({
      status: 'authorized',
      next_action: { type: 'execute_at_edge', deadline: EDGE_DEADLINE },
    }));

  it('is not to be run from the deadline on, even if no sweeper has ended it yet', () =>
    expect(shownAt(DEADLINE_MS)).toMatchObject({ status: 'authorized', next_action: null }));
});
