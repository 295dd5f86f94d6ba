import type { CommandMetadata, OrgId, Timestamp, WebhookId } from '../kernel/index.js';
import type { WebhookStatus } from './webhook.events.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

/** A new secret, whose value lies in the vault by now. */
export interface NewSecret {
  readonly version: string;
  readonly hint: string;
}

/** What is absent stays as it is. */
export interface WebhookChanges {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly description?: string | null;
  readonly status?: WebhookStatus;
}

export type WebhookCommand =
  | Command<
      'CreateWebhook',
      {
        readonly org: OrgId;
        readonly webhook: WebhookId;
        readonly url: string;
        readonly events: readonly string[];
        readonly description: string | null;
        readonly secret: NewSecret;
        /** As many as the organization may have, with this one (rule HOOK-4). */
        readonly maxEndpoints: number;
      }
    >
  | Command<'UpdateWebhook', WebhookChanges & { readonly webhook: WebhookId }>
  | Command<
      'RollWebhookSecret',
      { readonly webhook: WebhookId; readonly secret: NewSecret; readonly oldUntil: Timestamp }
    >
  /** By the service itself. Changes nothing where an administrator has set the endpoint going again since. */
  | Command<'DisableWebhook', { readonly webhook: WebhookId; readonly failingSince: Timestamp }>
  | Command<'DeleteWebhook', { readonly webhook: WebhookId }>;
