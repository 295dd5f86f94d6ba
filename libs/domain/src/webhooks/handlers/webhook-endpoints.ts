import { encodeBase64url, encodeHex } from '#libs/crypto';
import type { EgressPolicy, StoredSecret, Vault } from '../../connectors/index.js';
import {
  type CommandMetadata,
  type CommandRunner,
  DESTINATION_NEXT,
  DomainError,
  type Folded,
  type FoldedStreams,
  type OrgId,
  type Randomness,
  streamOf,
  streamRef,
  type WebhookId,
} from '../../kernel/index.js';
import type { Deliveries } from '../deliveries.port.js';
import { SECRET_PREFIX } from '../signature.js';
import type { NewSecret, WebhookCommand } from '../webhook.commands.js';
import { webhooksDecider } from '../webhook.decider.js';
import type { Webhook, Webhooks } from '../webhook.state.js';
import type { WebhookSettings } from '../webhook-settings.js';
import { SECRET_FIELD } from './webhook-sender.js';
import type { ShownOnce } from './webhook.messages.js';

const SECRET_BYTES = 32;
const HINT_CHARACTERS = 4;

export interface EndpointParts {
  readonly vault: Vault;
  readonly egress: EgressPolicy;
  readonly randomness: Randomness;
  readonly deliveries: Deliveries;
  /** What there is to subscribe to. */
  readonly eventTypes: readonly string[];
}

/**
 * The webhook endpoints of an organization, and what the handlers that change them share. Read from the stream, never from
 * rows.
 */
export class WebhookEndpoints {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    readonly parts: EndpointParts,
    readonly settings: WebhookSettings,
  ) {}

  /** In the order in which they were made. */
  async list(org: OrgId): Promise<readonly Webhook[]> {
    return [...(await this.load(org)).state.endpoints.values()];
  }

  /** @throws {DomainError} not_found */
  async get(org: OrgId, webhook: WebhookId): Promise<Webhook> {
    return endpointIn((await this.load(org)).state, webhook);
  }

  private load(org: OrgId): Promise<Folded<Webhooks>> {
    return this.streams.load(streamRef(webhooksDecider, org));
  }

  /** @throws {DomainError} what `webhooksDecider` refuses with */
  run(org: OrgId, command: WebhookCommand, known?: Folded<Webhooks>) {
    return this.runner.run(webhooksDecider, org, command, command.metadata, known ? { known } : {});
  }

  /**
   * Writes the secret first, inert, and then the event that names it. A retry of a command that had succeeded makes no
   * other secret: its first one was shown, and signs.
   * @throws {DomainError} vault_unavailable, and what `webhooksDecider` refuses with
   */
  async withNewSecret(
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
  async requireAllowed(url: string): Promise<void> {
    try {
      await this.parts.egress.check(url);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'destination_blocked') throw error;
      const message = `The address of url is not open to webhooks. ${DESTINATION_NEXT}`;
      throw new DomainError('destination_blocked', { param: 'url', message, cause: error });
    }
  }
}

export const endpointIn = ({ endpoints }: Webhooks, webhook: WebhookId): Webhook => {
  const known = endpoints.get(webhook);
  if (!known) throw new DomainError('not_found');
  return known;
};
