export { type ClaimTerms, Deliveries, type DeliveryPage, type DeliveryPlace } from './deliveries.port.js';
export {
  DELIVERY_STATUSES,
  type AttemptOutcome,
  type ClaimedDelivery,
  type Delivery,
  type DeliveryStatus,
  type DeliveryStep,
} from './delivery.js';
export {
  ATTEMPTS_LIMIT,
  attemptsOf,
  claimEndMs,
  claimsOf,
  IN_FLIGHT_MAX,
  type OpenDelivery,
  stepAfter,
} from './delivery-attempts.js';
export { EndpointsAsOf } from './handlers/endpoints-as-of.js';
export { LostClaims } from './handlers/lost-claims.js';
export { WebhookEndpoints } from './handlers/webhook-endpoints.js';
export * from './handlers/webhook.messages.js';
export { WEBHOOK_HANDLERS } from './handlers/handlers.js';
export { WebhookDeliveries } from './handlers/webhook-deliveries.js';
export { WebhookDispatcher } from './handlers/webhook-dispatcher.js';
export { WebhookSecretSweeper } from './handlers/webhook-secret-sweeper.js';
export { WebhookSender } from './handlers/webhook-sender.js';
export { type OutgoingEvent, TEST_EVENT_TYPE, type TestEvent } from './outgoing-event.js';
export { receiversOf } from './receivers.js';
export { SECRET_PREFIX, signatureHeader } from './signature.js';
export type { WebhookChanges, WebhookCommand } from './webhook.commands.js';
export { webhooksDecider } from './webhook.decider.js';
export { type PostOutcome, WebhookDoor, type WebhookPost } from './webhook-door.port.js';
export { WEBHOOK_STATUSES, type WebhookEvent, type WebhookStatus } from './webhook.events.js';
export { WebhookSettings } from './webhook-settings.js';
export { signingAt, type Webhook, type Webhooks } from './webhook.state.js';
