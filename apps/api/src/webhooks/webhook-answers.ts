import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { Clock, type CommandMetadata, type DeedId, type OrgId, streamOf, timestampOf } from '#libs/domain/kernel';
import { type Webhook, WebhookDeliveries, webhooksDecider } from '#libs/domain/webhooks';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { webhookView } from './webhook.view.js';

/** How endpoints are shown. */
@Injectable()
export class WebhookAnswers {
  constructor(
    private readonly deliveries: WebhookDeliveries,
    private readonly deeds: ChangeDeeds,
    private readonly clock: Clock,
  ) {}

  async views(webhooks: readonly Webhook[]): Promise<readonly JsonObject[]> {
    const [failing, waiting] = await Promise.all([
      this.deliveries.failingSince(webhooks),
      this.deliveries.waitingSince(webhooks),
    ]);
    const now = timestampOf(this.clock.nowMs());
    return webhooks.map((webhook, index) =>
      webhookView(webhook, { failing: failing[index] ?? null, waiting: waiting[index] ?? null }, now),
    );
  }

  async view(webhook: Webhook): Promise<JsonObject> {
    return (await this.views([webhook]))[0] as JsonObject;
  }

  /** After a change, with the deed that seals it; null when nothing changed. */
  async changed(webhook: Webhook, metadata: CommandMetadata): Promise<JsonObject> {
    return { ...(await this.view(webhook)), deed: await this.deedOf(webhook.org, metadata) };
  }

  deedOf(org: OrgId, metadata: CommandMetadata): Promise<DeedId | null> {
    return this.deeds.deedOf(streamOf(webhooksDecider.category, org), metadata);
  }
}
