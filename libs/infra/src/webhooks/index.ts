export { EgressWebhookDoor } from './egress-webhook-door.js';
export { neededByWebhooks } from './needed-public-events.js';
export { testEvent } from './outgoing-events.js';
export { PostgresDeliveries } from './postgres-deliveries.js';
export { DELIVERIES_KEPT_MS, type FoldPlace, WebhookFold } from './webhook-fold.js';
