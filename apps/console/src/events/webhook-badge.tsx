import type { Schemas } from '../kernel/client.ts';
import { type BadgeLook, LookBadge } from '../kit/badges.tsx';
import { standOfWebhook } from './webhook-words.ts';

/** Red: somebody must look, since it is told nothing any more. */
const WEBHOOKS: Readonly<Record<ReturnType<typeof standOfWebhook>, BadgeLook>> = {
  active: ['ok', 'checkCircle', 'Active'],
  failing: ['warn', 'alert', 'Failing'],
  paused: ['quiet', 'pause', 'Paused'],
  'given up': ['bad', 'crossCircle', 'Given up'],
};

/** How an endpoint stands. */
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

/** What a list of deliveries is filtered by: the API's values, and their words. */
export const DELIVERY_CHOICES = Object.entries(DELIVERIES).map(([status, [, , word]]) => [status, word] as const);

export const DeliveryBadge = ({ status }: { readonly status: Schemas['WebhookDelivery']['status'] }) => (
  <LookBadge look={DELIVERIES[status]} />
);
