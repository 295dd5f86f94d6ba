import type { JsonObject } from '#libs/crypto';
import { signingAt, type Delivery, type Webhook } from '#libs/domain/webhooks';
import type { Timestamp } from '#libs/domain/kernel';

/** Of the secrets nothing but how the newest one ends, and until when older ones sign beside it. */
export const webhookView = (
  webhook: Webhook,
  since: { readonly failing: Timestamp | null; readonly waiting: Timestamp | null },
  now: Timestamp,
): JsonObject => ({
  object: 'webhook',
  id: webhook.id,
  url: webhook.url,
  events: [...webhook.events],
  description: webhook.description,
  status: webhook.status,
  secret_hint: webhook.secretHint,
  old_secrets_until: signingAt(webhook, now).flatMap(({ until }) => until ?? []),
  failing_since: since.failing,
  oldest_pending_at: since.waiting,
  created_at: webhook.createdAt,
});

export const deliveryView = (delivery: Delivery): JsonObject => ({
  object: 'webhook_delivery',
  webhook: delivery.webhook,
  event: delivery.event,
  type: delivery.type,
  about: { ...delivery.about },
  status: delivery.status,
  attempt: delivery.attempt,
  http_status: delivery.httpStatus,
  error_code: delivery.errorCode,
  created_at: delivery.createdAt,
  next_attempt_at: delivery.nextAttemptAt,
  delivered_at: delivery.deliveredAt,
});
