import type { OrgId, Timestamp, WebhookId } from '../kernel/index.js';

/** `disabled`: nothing is sent, and what happens meanwhile is not kept for it. */
export const WEBHOOK_STATUSES = ['active', 'disabled'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

interface OfWebhook {
  readonly org: OrgId;
  readonly webhook: WebhookId;
  readonly at: Timestamp;
}

/** Of a secret. Never its value: that lies in the vault, under (org, webhook, version). */
export interface SecretFacts {
  /** Names the vault rows that hold the value. */
  readonly secret_version: string;
  /** Its last characters, by which a person tells it from others. */
  readonly secret_hint: string;
}

type Event<Type extends string, Data = unknown> = { readonly type: Type; readonly data: OfWebhook & Data };

/** Stream `webhooks-<org_id>`: all endpoints of an organization, so that their number holds. Each event seals an admin deed. */
export type WebhookEvent =
  | Event<
      'WebhookCreated',
      SecretFacts & {
        readonly url: string;
        /** Types of public events, families of them such as `action.*`, or `*`. */
        readonly events: readonly string[];
        readonly description: string | null;
      }
    >
  /** Only members that changed are present. */
  | Event<
      'WebhookUpdated',
      {
        readonly url?: string;
        readonly events?: readonly string[];
        readonly description?: string | null;
        readonly status?: WebhookStatus;
      }
    >
  /** The secrets before it sign until `old_until`, or until a roll before it ends them sooner. */
  | Event<'WebhookSecretRolled', SecretFacts & { readonly old_until: Timestamp }>
  /** Nobody asked for it: every delivery since `failing_since` has failed. */
  | Event<'WebhookDisabled', { readonly failing_since: Timestamp }>
  /** The versions name the vault rows that go with it. */
  | Event<'WebhookDeleted', { readonly secret_versions: readonly string[] }>;
