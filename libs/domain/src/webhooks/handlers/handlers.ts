import {
  CreateWebhookHandler,
  DeleteWebhookHandler,
  RollWebhookSecretHandler,
  UpdateWebhookHandler,
} from './webhooks.handler.js';

/** Each stands on WebhookEndpoints alone. */
export const WEBHOOK_HANDLERS = [
  CreateWebhookHandler,
  UpdateWebhookHandler,
  RollWebhookSecretHandler,
  DeleteWebhookHandler,
] as const;
