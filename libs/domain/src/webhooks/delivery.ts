import type { ErrorCode, EventId, OrgId, Timestamp, WebhookId } from '../kernel/index.js';

/**
 * `pending`: not tried yet. `delivering`: an attempt is under way. `retrying`: one has failed, another is due. `delivered`,
 * `dead` (the last attempt has failed, or eight days went by before the first) and `cancelled` (its endpoint was disabled or deleted): over.
 */
export const DELIVERY_STATUSES = ['pending', 'delivering', 'retrying', 'delivered', 'dead', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly webhook: WebhookId;
  readonly event: EventId;
  readonly type: string;
  /** The thin object of the event. */
  readonly about: { readonly object: string; readonly id: string };
  readonly status: DeliveryStatus;
  /** Attempts that have begun, the one under way included. */
  readonly attempt: number;
  /** Of the last answer; null where the last attempt has none. */
  readonly httpStatus: number | null;
  /** Why the last attempt failed. */
  readonly errorCode: ErrorCode | null;
  readonly createdAt: Timestamp;
  readonly nextAttemptAt: Timestamp | null;
  readonly deliveredAt: Timestamp | null;
}

/** A delivery that its claimer alone may send now, under this attempt's number. */
export interface ClaimedDelivery {
  readonly webhook: WebhookId;
  readonly org: OrgId;
  readonly event: EventId;
  readonly type: string;
  readonly body: string;
  readonly traceparent: string | null;
  readonly attempt: number;
  /** Names this claim: an outcome of another one is not taken. */
  readonly claim: string;
}

/** What came of one attempt. */
export type AttemptOutcome =
  | { readonly isDelivered: true; readonly httpStatus: number }
  | { readonly isDelivered: false; readonly httpStatus: number | null; readonly errorCode: ErrorCode };

/** What is written of a delivery after an attempt. */
export type DeliveryStep =
  | { readonly status: 'delivered' }
  | { readonly status: 'retrying'; readonly dueMs: number }
  | { readonly status: 'dead' };
