import { expect, it } from 'vitest';
import { PUBLIC_EVENT_TYPES } from './public-event.js';
import { TOLD_EVENT_TYPES } from './told-events.js';

/** Types that a stream may be asked for and no event of the log tells: a test of a webhook, and what later versions record. */
const UNTOLD = /^(?:anomaly|suggestion|webhook)\./;

it('each public type is told by an event of the log', () => {
  expect([...TOLD_EVENT_TYPES].toSorted()).toEqual(PUBLIC_EVENT_TYPES.filter((type) => !UNTOLD.test(type)).toSorted());
});
