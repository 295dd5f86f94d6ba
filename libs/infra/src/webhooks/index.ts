export { EgressWebhookDoor } from './egress-webhook-door.js';
export { testEvent } from './outgoing-events.js';
export { PostgresDeliveries } from './postgres-deliveries.js';
export { DELIVERIES_KEPT_MS, type FoldPlace, WebhookFold } from './webhook-fold.js';
export { installWebhookSchema } from './webhook-schema.js';
