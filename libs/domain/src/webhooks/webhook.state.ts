import type { OrgId, Timestamp, WebhookId } from '../kernel/index.js';
import type { WebhookStatus } from './webhook.events.js';

/** Signs until `until`; null for the newest, which has no end yet. */
export interface SigningSecret {
  readonly version: string;
  readonly until: Timestamp | null;
}

export interface Webhook {
  readonly id: WebhookId;
  readonly org: OrgId;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  readonly status: WebhookStatus;
  readonly secretHint: string;
  /** Newest first. Those that have ended are among them until the next roll. */
  readonly secrets: readonly SigningSecret[];
  /** Of an endpoint that the service disabled: since when every delivery had failed. Null otherwise. */
  readonly disabledFailingSince: Timestamp | null;
  /** When an administrator last pointed or switched it: failures from before do not count against it. */
  readonly aimedAt: Timestamp;
  readonly createdAt: Timestamp;
}

/** The endpoints of one organization that are there, in the order in which they were made. */
export interface Webhooks {
  readonly endpoints: ReadonlyMap<WebhookId, Webhook>;
}

/** Those that sign at a moment, newest first. */
export const signingAt = ({ secrets }: Webhook, now: Timestamp): readonly SigningSecret[] =>
  secrets.filter(({ until }) => until === null || now < until);
