import type { Schemas } from '../kernel/client.ts';

type Webhook = Schemas['Webhook'];
type Delivery = Schemas['WebhookDelivery'];

/** `given up`: the service itself disabled it (docs/webhooks.md, Tried again). */
export type WebhookStand = 'active' | 'failing' | 'paused' | 'given up';

/** Since when it fails is forgotten by a person's pause, and kept where the service itself disabled it. */
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

/** What the last attempt met: `204`, or `500: the receiver did not answer with 2xx`. Null before there was one. */
export const answerInWords = ({
  http_status: status,
  error_code: code,
}: Pick<Delivery, 'http_status' | 'error_code'>): string | null => {
  const why = code === null ? null : (ERRORS[code] ?? code);
  if (status === null) return why;
  return why === null ? String(status) : `${status}: ${why}`;
};

const OVER: readonly Delivery['status'][] = ['delivered', 'dead', 'cancelled'];

/** Nothing more happens to it by itself. */
export const isOver = ({ status }: Pick<Delivery, 'status'>): boolean => OVER.includes(status);
