import type { EventId, OrgId, Timestamp } from '../kernel/index.js';
import type { Webhook } from './webhook.state.js';

/** Sent when somebody asks for it; no event of the log tells of it. */
export const TEST_EVENT_TYPE = 'webhook.test';

/** A public event as it is sent: what it says is nobody's concern here. */
export interface OutgoingEvent {
  readonly id: EventId;
  readonly org: OrgId;
  readonly type: string;
  /** The body that receivers get: these bytes at every attempt. */
  readonly body: string;
  /** Header of that name, the same at every attempt; null where the event is about no action of a trace. */
  readonly traceparent: string | null;
}

/** Makes the event of a test, in the form of all others. */
export type TestEvent = (webhook: Webhook, id: EventId, at: Timestamp) => OutgoingEvent;
