import { encodeBase64url, encodeHex } from '#libs/crypto';
import { overlapEnd } from '../../agents/index.js';
import type { EgressPolicy, StoredSecret, Vault } from '../../connectors/index.js';
import {
  type CommandMetadata,
  type CommandRunner,
  derivedId,
  DESTINATION_NEXT,
  DomainError,
  type Folded,
  type FoldedStreams,
  isPlainText,
  type OrgId,
  type Randomness,
  streamOf,
  streamRef,
  type WebhookId,
  WITHOUT_CONTROL_CHARACTERS,
} from '../../kernel/index.js';
import type { Deliveries } from '../deliveries.port.js';
import { SECRET_PREFIX } from '../signature.js';
import { checkedSubscription } from '../subscribed-events.js';
import type { NewSecret, WebhookChanges, WebhookCommand } from '../webhook.commands.js';
import { webhooksDecider } from '../webhook.decider.js';
import type { WebhookEvent } from '../webhook.events.js';
import type { Webhook, Webhooks } from '../webhook.state.js';
import type { WebhookSettings } from '../webhook-settings.js';
import { checkedWebhookUrl } from '../webhook-url.js';
import { SECRET_FIELD } from './webhook-sender.js';

const SECRET_BYTES = 32;
const HINT_CHARACTERS = 4;
const DESCRIPTION_MAX_CHARACTERS = 1_024;

type DeletedEvent = Extract<WebhookEvent, { type: 'WebhookDeleted' }>;

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

export interface AdministrationParts {
  readonly vault: Vault;
  readonly egress: EgressPolicy;
  readonly randomness: Randomness;
  readonly deliveries: Deliveries;
  /** What there is to subscribe to. */
  readonly eventTypes: readonly string[];
}

/** What administrators do with the webhook endpoints of their organization. Read from the stream, never from rows. */
export class WebhookAdministration {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly parts: AdministrationParts,
    private readonly settings: WebhookSettings,
  ) {}

  /** In the order in which they were made. */
  async list(org: OrgId): Promise<readonly Webhook[]> {
    return [...(await this.load(org)).state.endpoints.values()];
  }

  /** @throws {DomainError} not_found */
  async get(org: OrgId, webhook: WebhookId): Promise<Webhook> {
    return endpointIn((await this.load(org)).state, webhook);
  }

  /**
   * Writes the secret first, inert, and then the event that names it.
   * @throws {DomainError} validation_failed naming the field; destination_blocked, param `url`; conflict when there are as
   * many as there may be; vault_unavailable
   */
  async create(org: OrgId, described: DescribedWebhook, metadata: CommandMetadata): Promise<ShownOnce> {
    const checked = {
      url: checkedWebhookUrl(described.url, this.settings.isProduction),
      events: checkedSubscription(described.events, this.parts.eventTypes),
      description: checkedDescription(described.description),
    };
    await this.requireAllowed(checked.url);
    const webhook = derivedId('whk', metadata.commandId);
    const { maxEndpointsPerOrg: maxEndpoints } = this.settings;
    return this.withNewSecret(org, webhook, metadata, (secret) => ({
      type: 'CreateWebhook',
      data: { org, webhook, ...checked, secret, maxEndpoints },
      metadata,
    }));
  }

  /** @throws {DomainError} not_found; validation_failed naming the field; destination_blocked, param `url` */
  async update(org: OrgId, webhook: WebhookId, changes: WebhookChanges, metadata: CommandMetadata): Promise<Webhook> {
    await this.get(org, webhook);
    const { url, events, description, status } = changes;
    const checked = {
      ...(url === undefined ? {} : { url: checkedWebhookUrl(url, this.settings.isProduction) }),
      ...(events === undefined ? {} : { events: checkedSubscription(events, this.parts.eventTypes) }),
      ...(description === undefined ? {} : { description: checkedDescription(description) }),
      ...(status === undefined ? {} : { status }),
    };
    if (checked.url !== undefined) await this.requireAllowed(checked.url);
    const data = { webhook, ...checked };
    const { folded } = await this.run(org, { type: 'UpdateWebhook', data, metadata });
    return endpointIn(folded.state, webhook);
  }

  /**
   * The secret before it signs beside the new one until the overlap ends.
   * @param overlapSeconds 0 to 7 days; default 24 hours
   * @throws {DomainError} not_found; validation_failed, param `overlap_seconds`; conflict; vault_unavailable
   */
  async roll(
    org: OrgId,
    webhook: WebhookId,
    overlapSeconds: number | undefined,
    metadata: CommandMetadata,
  ): Promise<ShownOnce> {
    const oldUntil = overlapEnd(metadata.now, overlapSeconds);
    return this.withNewSecret(org, webhook, metadata, (secret) => ({
      type: 'RollWebhookSecret',
      data: { webhook, secret, oldUntil },
      metadata,
    }));
  }

  /** Nothing is sent to it from now on. @throws {DomainError} not_found */
  async delete(org: OrgId, webhook: WebhookId, metadata: CommandMetadata): Promise<void> {
    const { events } = await this.run(org, { type: 'DeleteWebhook', data: { webhook }, metadata });
    const { vault, deliveries } = this.parts;
    const versions = events.flatMap(({ event }) => (event as DeletedEvent).data.secret_versions);
    // It is gone: whoever would send finds that, and a sweep removes what cannot be removed at the moment.
    await Promise.allSettled([
      ...versions.map((version) => vault.destroy({ org, object: webhook, version })),
      deliveries.cancelOpen(webhook, null),
    ]);
  }

  private load(org: OrgId): Promise<Folded<Webhooks>> {
    return this.streams.load(streamRef(webhooksDecider, org));
  }

  private run(org: OrgId, command: WebhookCommand, known?: Folded<Webhooks>) {
    return this.runner.run(webhooksDecider, org, command, command.metadata, known ? { known } : {});
  }

  /** A retry of a command that had succeeded makes no other secret: its first one was shown, and signs. */
  private async withNewSecret(
    org: OrgId,
    webhook: WebhookId,
    metadata: CommandMetadata,
    commandWith: (secret: NewSecret) => WebhookCommand,
  ): Promise<ShownOnce> {
    const folded = await this.load(org);
    if (folded.causations.has(metadata.commandId)) return { webhook: endpointIn(folded.state, webhook), secret: null };
    const secret = SECRET_PREFIX + encodeBase64url(this.parts.randomness.bytes(SECRET_BYTES));
    // Of two tries that run at once each has a version of its own, and the event names one.
    const version = encodeHex(this.parts.randomness.bytes(16));
    const command = commandWith({ version, hint: secret.slice(-HINT_CHARACTERS) });
    // Refuses what cannot become an event before anything is written.
    webhooksDecider.decide(command, folded.state);
    const place = { org, object: webhook, version, stream: streamOf(webhooksDecider.category, org) };
    await this.store(place, secret);
    try {
      const { folded: after, isReplay } = await this.run(org, command, folded);
      if (isReplay) await this.parts.vault.destroy(place);
      return { webhook: endpointIn(after.state, webhook), secret: isReplay ? null : secret };
    } catch (error) {
      // Only a certain refusal: after an unclear append the event may name these rows.
      if (error instanceof DomainError) await this.parts.vault.destroy(place);
      throw error;
    }
  }

  private async store(place: StoredSecret, secret: string): Promise<void> {
    const bytes = new TextEncoder().encode(secret);
    try {
      await this.parts.vault.put(place, new Map([[SECRET_FIELD, bytes]]));
    } finally {
      bytes.fill(0);
    }
  }

  /** A blocked webhook URL is 400 destination_blocked (rule CON-7). */
  private async requireAllowed(url: string): Promise<void> {
    try {
      await this.parts.egress.check(url);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'destination_blocked') throw error;
      const message = `The address of url is not open to webhooks. ${DESTINATION_NEXT}`;
      throw new DomainError('destination_blocked', { param: 'url', message, cause: error });
    }
  }
}

const endpointIn = ({ endpoints }: Webhooks, webhook: WebhookId): Webhook => {
  const known = endpoints.get(webhook);
  if (!known) throw new DomainError('not_found');
  return known;
};

const checkedDescription = (description: string | null): string | null => {
  if (description === null) return null;
  if ([...description].length <= DESCRIPTION_MAX_CHARACTERS && isPlainText(description)) return description;
  throw new DomainError('validation_failed', {
    param: 'description',
    message: `The field description must have at most ${DESCRIPTION_MAX_CHARACTERS} characters, ${WITHOUT_CONTROL_CHARACTERS}.`,
  });
};
