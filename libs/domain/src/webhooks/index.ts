export type { WebhookChanges, WebhookCommand } from './webhook.commands.js';
export { webhooksDecider } from './webhook.decider.js';
export type { WebhookEvent, WebhookStatus } from './webhook.events.js';
export { signingAt, type Webhook, type Webhooks } from './webhook.state.js';
