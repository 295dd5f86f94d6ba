import type { Schemas } from '../kernel/client.ts';
import { type BadgeLook, LookBadge } from '../kit/badges.tsx';
import { standOfWebhook } from './webhook-words.ts';

/** Only `given up` is red: a person must act, because the endpoint gets nothing any more. */
const WEBHOOKS: Readonly<Record<ReturnType<typeof standOfWebhook>, BadgeLook>> = {
  active: ['ok', 'checkCircle', 'Active'],
  failing: ['warn', 'alert', 'Failing'],
  paused: ['quiet', 'pause', 'Paused'],
  'given up': ['bad', 'crossCircle', 'Given up'],
};

export const WebhookBadge = ({ webhook }: { readonly webhook: Schemas['Webhook'] }) => (
  <LookBadge look={WEBHOOKS[standOfWebhook(webhook)]} />
);

const DELIVERIES: Readonly<Record<Schemas['WebhookDelivery']['status'], BadgeLook>> = {
  pending: ['accent', 'clock', 'Waiting'],
  delivering: ['accent', 'spinner', 'Sending'],
  retrying: ['warn', 'clock', 'Retrying'],
  delivered: ['ok', 'checkCircle', 'Delivered'],
  dead: ['bad', 'crossCircle', 'Given up'],
  cancelled: ['quiet', 'ban', 'Not sent'],
};

/** The filter choices of a list of deliveries: the API's values with their words. */
export const DELIVERY_CHOICES = Object.entries(DELIVERIES).map(([status, [, , word]]) => [status, word] as const);

export const DeliveryBadge = ({ status }: { readonly status: Schemas['WebhookDelivery']['status'] }) => (
  <LookBadge look={DELIVERIES[status]} />
);
