import type { WebhookId } from '../kernel/index.js';
import { isSubscribed } from './subscribed-events.js';
import type { Webhooks } from './webhook.state.js';

/**
 * Who gets an event: the active endpoints that were subscribed to its type when it was recorded.
 * @param endpoints of the event's organization, as of then
 */
export const receiversOf = (type: string, { endpoints }: Webhooks): readonly WebhookId[] =>
  [...endpoints.values()]
    .filter(({ status, events }) => status === 'active' && isSubscribed(events, type))
    .map(({ id }) => id);
