import type { Schemas } from '../kernel/client.ts';

type Webhook = Schemas['Webhook'];
type Delivery = Schemas['WebhookDelivery'];

/** The state of a webhook. `given up`: the service itself has disabled it (docs/webhooks.md, Tried again). */
export type WebhookStand = 'active' | 'failing' | 'paused' | 'given up';

/**
 * The state of a webhook. The time since it fails tells the two kinds of disabled ones apart: a pause by a person
 * clears that time, giving up keeps it.
 */
export const standOfWebhook = ({
  status,
  failing_since: since,
}: Pick<Webhook, 'status' | 'failing_since'>): WebhookStand =>
  status === 'active' ? (since === null ? 'active' : 'failing') : since === null ? 'paused' : 'given up';

const ERRORS: Readonly<Record<string, string>> = {
  upstream_error: 'the receiver did not answer with 2xx',
  upstream_rate_limited: 'the receiver limits the rate of requests',
  timeout: 'the receiver did not answer in time',
  connector_unavailable: 'no connection, or an invalid certificate',
  destination_blocked: 'the address is not allowed for this service',
  vault_unavailable: 'the secret could not be decrypted, and nothing was sent',
};

/**
 * The result of the last attempt: `204`, or `500: the receiver did not answer with 2xx`; null before the first attempt.
 */
export const answerInWords = ({
  http_status: status,
  error_code: code,
}: Pick<Delivery, 'http_status' | 'error_code'>): string | null => {
  const why = code === null ? null : (ERRORS[code] ?? code);
  if (status === null) return why;
  return why === null ? String(status) : `${status}: ${why}`;
};

const OVER: readonly Delivery['status'][] = ['delivered', 'dead', 'cancelled'];

/** Whether the service will not try the delivery again by itself. */
export const isOver = ({ status }: Pick<Delivery, 'status'>): boolean => OVER.includes(status);
