import { type PublicEvent, publicEventObject } from '#libs/domain/events';
import { sha256Hex } from '#libs/crypto';
import { traceparentOf } from '#libs/domain/kernel';
import { type OutgoingEvent, TEST_EVENT_TYPE, type TestEvent } from '#libs/domain/webhooks';

const PARENT_DIGITS = 16;

/** The event object in one line. */
export const outgoing = (event: PublicEvent): OutgoingEvent => ({
  id: event.evt,
  org: event.org,
  type: event.type,
  body: JSON.stringify(publicEventObject(event)),
  traceparent: event.trace === null ? null : traceparentOf(event.trace, sha256Hex(event.evt).slice(0, PARENT_DIGITS)),
});

export const testEvent: TestEvent = ({ id, org, status }, evt, at) =>
  outgoing({
    evt,
    org,
    type: TEST_EVENT_TYPE,
    agent: null,
    livemode: true,
    trace: null,
    at,
    thin: { object: 'webhook', id, status },
  });
