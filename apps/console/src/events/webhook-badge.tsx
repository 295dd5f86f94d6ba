import type { Schemas } from '../kernel/client.ts';
import { Badge } from '../kit/badges.tsx';
import { standOfWebhook } from './webhook-words.ts';

/** How an endpoint stands. Red: somebody must look, since it is told nothing any more. */
export const WebhookBadge = ({ webhook }: { readonly webhook: Schemas['Webhook'] }) => {
  switch (standOfWebhook(webhook)) {
    case 'active':
      return (
        <Badge tone="ok" icon="checkCircle">
          Active
        </Badge>
      );
    case 'failing':
      return (
        <Badge tone="warn" icon="alert">
          Failing
        </Badge>
      );
    case 'paused':
      return (
        <Badge tone="quiet" icon="pause">
          Paused
        </Badge>
      );
    case 'given up':
      return (
        <Badge tone="bad" icon="crossCircle">
          Given up
        </Badge>
      );
  }
};

const DELIVERIES = {
  pending: ['accent', 'clock', 'Not tried yet'],
  delivering: ['accent', 'spinner', 'Under way'],
  retrying: ['warn', 'clock', 'Tried again'],
  delivered: ['ok', 'checkCircle', 'Delivered'],
  dead: ['bad', 'crossCircle', 'Given up'],
  cancelled: ['quiet', 'ban', 'Not sent'],
} as const;

/** What a list of deliveries is filtered by: the API's values, and their words. */
export const DELIVERY_CHOICES = Object.entries(DELIVERIES).map(([status, [, , word]]) => [status, word] as const);

export const DeliveryBadge = ({ status }: { readonly status: keyof typeof DELIVERIES }) => {
  const [tone, icon, word] = DELIVERIES[status];
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
};
