import { describe, expect, it } from 'vitest';
import { PUBLIC_EVENT_TYPES } from '../events/index.js';
import { checkedSubscription, isSubscribed } from './subscribed-events.js';

const refusal = (events: readonly string[]): unknown => {
  try {
    return checkedSubscription(events, PUBLIC_EVENT_TYPES);
  } catch (error) {
    return error;
  }
};

describe('a subscription', () => {
  it('lists types, families and all of them, each once', () => {
    expect(checkedSubscription(['deed.sealed', 'action.*', 'deed.sealed', '*'], PUBLIC_EVENT_TYPES)).toEqual([
      'deed.sealed',
      'action.*',
      '*',
    ]);
  });

  it.each<[readonly string[], string, RegExp]>([
    [[], 'events', /1 to 64/],
    [Array.from({ length: 65 }, () => 'deed.sealed'), 'events', /1 to 64/],
    [['deed.sealed', 'deed.seeled'], 'events[1]', /Did you mean deed\.sealed/],
    [['actions'], 'events[0]', /Did you mean action\.\*/],
    [['act*'], 'events[0]', /is not an event type/],
    [['budget.*'], 'events[0]', /Use one of \*, action\.\*/],
  ])('refuses %j, naming %s', (events, param, message) => {
    expect(refusal(events)).toMatchObject({
      code: 'validation_failed',
      param,
      message: expect.stringMatching(message),
    });
  });

  it.each([
    [['*'], 'deed.sealed', true],
    [['action.*'], 'action.decided', true],
    [['action.*'], 'agent.stopped', false],
    [['action.decided'], 'action.decided', true],
    [['action.decided'], 'action.created', false],
  ] as const)('%j has %s: %s', (events, type, is) => expect(isSubscribed(events, type)).toBe(is));
});
