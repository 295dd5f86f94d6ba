import {
  type Bus,
  type Clock,
  type CommandMetadata,
  derivedId,
  DomainError,
  epochMsOf,
  type EventId,
  type OrgId,
  type Timestamp,
  timestampOf,
  type WebhookId,
  WEBHOOKS_CHANNEL,
} from '../../kernel/index.js';
import type { Deliveries, DeliveryPage } from '../deliveries.port.js';
import type { Delivery } from '../delivery.js';
import type { TestEvent } from '../outgoing-event.js';
import type { Webhook } from '../webhook.state.js';
import type { WebhookEndpoints } from './webhook-endpoints.js';
import type { WebhookSender } from './webhook-sender.js';

/** What administrators see of deliveries, and have sent: a test, and what went wrong once more. */
export class WebhookDeliveries {
  constructor(
    private readonly endpoints: Pick<WebhookEndpoints, 'get'>,
    private readonly deliveries: Deliveries,
    private readonly sender: Pick<WebhookSender, 'send' | 'termsOf'>,
    private readonly sources: { readonly clock: Clock; readonly bus: Bus; readonly testEvent: TestEvent },
  ) {}

  /** Since when every attempt to reach an endpoint has failed; null where the last one did not. */
  async failingSince(endpoints: readonly Webhook[]): Promise<readonly (Timestamp | null)[]> {
    const since = await this.deliveries.failingSince(endpoints.map(({ id }) => id));
    return endpoints.map(({ id, aimedAt, disabledFailingSince }) => {
      const ms = since.get(id);
      const counts = ms !== undefined && ms >= epochMsOf(aimedAt);
      return disabledFailingSince ?? (counts ? timestampOf(ms) : null);
    });
  }

  /** Since when the oldest event waits for its first attempt; null where none waits. */
  async waitingSince(endpoints: readonly Webhook[]): Promise<readonly (Timestamp | null)[]> {
    const since = await this.deliveries.waitingSince(endpoints.map(({ id }) => id));
    return endpoints.map(({ id }) => {
      const ms = since.get(id);
      return ms === undefined ? null : timestampOf(ms);
    });
  }

  /** Newest first. @throws {DomainError} not_found */
  async list(org: OrgId, webhook: WebhookId, page: DeliveryPage) {
    await this.endpoints.get(org, webhook);
    return this.deliveries.page(webhook, page);
  }

  /**
   * Sends `webhook.test` now, whatever the endpoint is subscribed to, and answers with what came of it.
   * @throws {DomainError} not_found; rate_limited while as many deliveries are under way as may be
   */
  async test(org: OrgId, webhook: WebhookId, metadata: CommandMetadata): Promise<Delivery> {
    const endpoint = await this.endpoints.get(org, webhook);
    const event = this.sources.testEvent(
      endpoint,
      derivedId('evt', metadata.commandId),
      timestampOf(this.sources.clock.nowMs()),
    );
    const known = await this.deliveries.find(webhook, event.id);
    if (known !== null) return known;
    const claimed = await this.deliveries.addClaimed(webhook, event, this.sender.termsOf(1));
    if (claimed === null) throw new DomainError('rate_limited', { retryAfterSeconds: 1, message: BUSY });
    await this.sender.send(claimed);
    return this.found(webhook, event.id);
  }

  /**
   * Makes a delivery due now: one that is over begins anew, one that waits goes on at once.
   * @throws {DomainError} not_found, with `param: event` where it has no such delivery; conflict where it is disabled
   */
  async redeliver(org: OrgId, webhook: WebhookId, event: EventId): Promise<Delivery> {
    const { status } = await this.endpoints.get(org, webhook);
    if (status === 'disabled') throw new DomainError('conflict', { message: DISABLED });
    const nowMs = this.sources.clock.nowMs();
    const delivery = await this.deliveries.sendAgain(webhook, event, nowMs);
    if (delivery === null) throw new DomainError('not_found', { param: 'event', message: NOT_KEPT });
    this.sources.bus.publish(WEBHOOKS_CHANNEL, webhook);
    return delivery;
  }

  private async found(webhook: WebhookId, event: EventId): Promise<Delivery> {
    const delivery = await this.deliveries.find(webhook, event);
    if (delivery === null) throw new DomainError('not_found');
    return delivery;
  }
}

const BUSY = 'Four deliveries to this endpoint are under way, which is as many as may be. Try again in a moment.';
const DISABLED = 'The endpoint is disabled, so nothing is sent to it. Send status active with PATCH first.';
const NOT_KEPT =
  'There is no delivery of this event to this endpoint. GET /v1/webhooks/{id}/deliveries lists them; they are kept for 8 days.';
