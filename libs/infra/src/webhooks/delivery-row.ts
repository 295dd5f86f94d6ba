import { type ErrorCode, type EventId, timestampOf, type WebhookId } from '#libs/domain/kernel';
import type { Delivery, DeliveryStatus } from '#libs/domain/webhooks';

/** What an event is about stands in its body alone. */
export const DELIVERY_COLUMNS = `webhook, event, type, status, attempt, due_ms, http_status, error_code, created_ms, ended_ms,
  body::json #>> '{data,object,object}' as about_object, body::json #>> '{data,object,id}' as about_id`;

export interface DeliveryRow {
  readonly webhook: WebhookId;
  readonly event: EventId;
  readonly type: string;
  readonly status: DeliveryStatus;
  readonly attempt: number;
  readonly due_ms: string;
  readonly http_status: number | null;
  readonly error_code: ErrorCode | null;
  readonly created_ms: string;
  readonly ended_ms: string | null;
  readonly about_object: string;
  readonly about_id: string;
}

export const deliveryOf = (row: DeliveryRow): Delivery => {
  const { webhook, event, type, status, attempt } = row;
  const waits = status === 'pending' || status === 'retrying';
  const isDelivered = status === 'delivered' && row.ended_ms !== null;
  return {
    webhook,
    event,
    type,
    about: { object: row.about_object, id: row.about_id },
    status,
    attempt,
    httpStatus: row.http_status,
    errorCode: row.error_code,
    createdAt: timestampOf(Number(row.created_ms)),
    nextAttemptAt: waits ? timestampOf(Number(row.due_ms)) : null,
    deliveredAt: isDelivered ? timestampOf(Number(row.ended_ms)) : null,
  };
};
