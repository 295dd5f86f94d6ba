import { Command } from '@nestjs/cqrs';
import type { CommandMetadata, OrgId, WebhookId } from '../../kernel/index.js';
import type { WebhookChanges } from '../webhook.commands.js';
import type { Webhook } from '../webhook.state.js';

export interface DescribedWebhook {
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
}

export interface ShownOnce {
  readonly webhook: Webhook;
  /** Null when an earlier try of the same command made it: it was shown then, or never. */
  readonly secret: string | null;
}

/** `POST /v1/webhooks`. */
export class CreateWebhook extends Command<ShownOnce> {
  constructor(
    readonly org: OrgId,
    readonly described: DescribedWebhook,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `PATCH /v1/webhooks/{id}`. */
export class UpdateWebhook extends Command<Webhook> {
  constructor(
    readonly org: OrgId,
    readonly webhook: WebhookId,
    readonly changes: WebhookChanges,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/webhooks/{id}/roll`: the secret before it signs beside the new one until the overlap ends. */
export class RollWebhookSecret extends Command<ShownOnce> {
  constructor(
    readonly org: OrgId,
    readonly webhook: WebhookId,
    /** 0 to 7 days; default 24 hours. */
    readonly overlapSeconds: number | undefined,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `DELETE /v1/webhooks/{id}`. */
export class DeleteWebhook extends Command<void> {
  constructor(
    readonly org: OrgId,
    readonly webhook: WebhookId,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}
