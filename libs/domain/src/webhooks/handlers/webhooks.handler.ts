import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { overlapEnd } from '../../agents/index.js';
import { derivedId, DomainError, isPlainText, WITHOUT_CONTROL_CHARACTERS } from '../../kernel/index.js';
import { checkedSubscription } from '../subscribed-events.js';
import type { WebhookEvent } from '../webhook.events.js';
import type { Webhook } from '../webhook.state.js';
import { checkedWebhookUrl } from '../webhook-url.js';
import { endpointIn, WebhookEndpoints } from './webhook-endpoints.js';
import { CreateWebhook, DeleteWebhook, RollWebhookSecret, type ShownOnce, UpdateWebhook } from './webhook.messages.js';

const DESCRIPTION_MAX_CHARACTERS = 1_024;

type DeletedEvent = Extract<WebhookEvent, { type: 'WebhookDeleted' }>;

@CommandHandler(CreateWebhook)
export class CreateWebhookHandler implements ICommandHandler<CreateWebhook> {
  constructor(private readonly endpoints: WebhookEndpoints) {}

  /**
   * @throws {DomainError} validation_failed naming the field; destination_blocked, param `url`; conflict when there are as
   * many as there may be; vault_unavailable
   */
  async execute({ org, described, metadata }: CreateWebhook): Promise<ShownOnce> {
    const { settings, parts } = this.endpoints;
    const checked = {
      url: checkedWebhookUrl(described.url, settings.isProduction),
      events: checkedSubscription(described.events, parts.eventTypes),
      description: checkedDescription(described.description),
    };
    await this.endpoints.requireAllowed(checked.url);
    const webhook = derivedId('whk', metadata.commandId);
    const { maxEndpointsPerOrg: maxEndpoints } = settings;
    return this.endpoints.withNewSecret(org, webhook, metadata, (secret) => ({
      type: 'CreateWebhook',
      data: { org, webhook, ...checked, secret, maxEndpoints },
      metadata,
    }));
  }
}

@CommandHandler(UpdateWebhook)
export class UpdateWebhookHandler implements ICommandHandler<UpdateWebhook> {
  constructor(private readonly endpoints: WebhookEndpoints) {}

  /** @throws {DomainError} not_found; validation_failed naming the field; destination_blocked, param `url` */
  async execute({ org, webhook, changes, metadata }: UpdateWebhook): Promise<Webhook> {
    await this.endpoints.get(org, webhook);
    const { settings, parts } = this.endpoints;
    const { url, events, description, status } = changes;
    const checked = {
      ...(url === undefined ? {} : { url: checkedWebhookUrl(url, settings.isProduction) }),
      ...(events === undefined ? {} : { events: checkedSubscription(events, parts.eventTypes) }),
      ...(description === undefined ? {} : { description: checkedDescription(description) }),
      ...(status === undefined ? {} : { status }),
    };
    if (checked.url !== undefined) await this.endpoints.requireAllowed(checked.url);
    const data = { webhook, ...checked };
    const { folded } = await this.endpoints.run(org, { type: 'UpdateWebhook', data, metadata });
    return endpointIn(folded.state, webhook);
  }
}

@CommandHandler(RollWebhookSecret)
export class RollWebhookSecretHandler implements ICommandHandler<RollWebhookSecret> {
  constructor(private readonly endpoints: WebhookEndpoints) {}

  /** @throws {DomainError} not_found; validation_failed, param `overlap_seconds`; conflict; vault_unavailable */
  async execute({ org, webhook, overlapSeconds, metadata }: RollWebhookSecret): Promise<ShownOnce> {
    const oldUntil = overlapEnd(metadata.now, overlapSeconds);
    return this.endpoints.withNewSecret(org, webhook, metadata, (secret) => ({
      type: 'RollWebhookSecret',
      data: { webhook, secret, oldUntil },
      metadata,
    }));
  }
}

@CommandHandler(DeleteWebhook)
export class DeleteWebhookHandler implements ICommandHandler<DeleteWebhook> {
  constructor(private readonly endpoints: WebhookEndpoints) {}

  /** Nothing is sent to it from now on. @throws {DomainError} not_found */
  async execute({ org, webhook, metadata }: DeleteWebhook): Promise<void> {
    const { events } = await this.endpoints.run(org, { type: 'DeleteWebhook', data: { webhook }, metadata });
    const { vault, deliveries } = this.endpoints.parts;
    const versions = events.flatMap(({ event }) => (event as DeletedEvent).data.secret_versions);
    // It is gone: whoever would send finds that, and a sweep removes what cannot be removed at the moment.
    await Promise.allSettled([
      ...versions.map((version) => vault.destroy({ org, object: webhook, version })),
      deliveries.cancelOpen(webhook, null),
    ]);
  }
}

const checkedDescription = (description: string | null): string | null => {
  if (description === null) return null;
  if ([...description].length <= DESCRIPTION_MAX_CHARACTERS && isPlainText(description)) return description;
  throw new DomainError('validation_failed', {
    param: 'description',
    message: `The field description must have at most ${DESCRIPTION_MAX_CHARACTERS} characters, ${WITHOUT_CONTROL_CHARACTERS}.`,
  });
};
