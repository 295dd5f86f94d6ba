import { type PublicEvent, publicEventObject } from '#libs/domain/events';
import { type OutgoingEvent, TEST_EVENT_TYPE, type TestEvent } from '#libs/domain/webhooks';

/** The event object of document 3 in one line. */
export const outgoing = (event: PublicEvent): OutgoingEvent => ({
  id: event.evt,
  org: event.org,
  type: event.type,
  body: JSON.stringify(publicEventObject(event)),
});

export const testEvent: TestEvent = ({ id, org, status }, evt, at) =>
  outgoing({
    evt,
    org,
    type: TEST_EVENT_TYPE,
    agent: null,
    livemode: true,
    at,
    thin: { object: 'webhook', id, status },
  });
