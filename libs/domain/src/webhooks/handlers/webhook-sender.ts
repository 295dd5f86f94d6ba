import { encodeHex } from '#libs/crypto';
import type { Vault } from '../../connectors/index.js';
import {
  type Clock,
  type CommandRunner,
  epochMsOf,
  failpoint,
  type FoldedStreams,
  type Logger,
  type Meter,
  type Randomness,
  streamRef,
  SYSTEM,
  timestampOf,
} from '../../kernel/index.js';
import type { ClaimTerms, Deliveries } from '../deliveries.port.js';
import type { AttemptOutcome, ClaimedDelivery } from '../delivery.js';
import { attemptsOf, isGivenUp, stepAfter } from '../delivery-attempts.js';
import { TEST_EVENT_TYPE } from '../outgoing-event.js';
import { signatureHeader } from '../signature.js';
import { webhooksDecider } from '../webhook.decider.js';
import { signingAt, type Webhook } from '../webhook.state.js';
import type { PostOutcome, WebhookDoor } from '../webhook-door.port.js';
import type { WebhookSettings } from '../webhook-settings.js';

export const SECRET_FIELD = 'secret';
const USER_AGENT = 'Service-Webhooks/1.0';
/** After an attempt that could not begin for reasons of ours. */
const GIVEN_BACK_MS = 5_000;

export interface SenderParts {
  readonly deliveries: Deliveries;
  readonly door: WebhookDoor;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
  readonly meter: Meter;
  /** What the claims of this process are signed with: {@link ClaimTerms}. */
  readonly claimer: () => string | null;
}

/**
 * Sends one claimed delivery, and says what came of it. Between two of its steps the process may end: what was claimed and
 * not settled is taken up again under its number, so a receiver may hear the same event twice, and never not at all.
 */
export class WebhookSender {
  constructor(
    private readonly runner: CommandRunner,
    private readonly streams: FoldedStreams,
    private readonly parts: SenderParts,
    private readonly settings: WebhookSettings,
  ) {}

  /** Terms for claims of this process at this moment. */
  termsOf(limit: number): ClaimTerms {
    const { clock, randomness, claimer } = this.parts;
    const { timeoutMs, maxAttempts } = this.settings;
    const token = (): string => encodeHex(randomness.bytes(16));
    const chance = (): number => chanceOf(randomness);
    return { nowMs: clock.nowMs(), timeoutMs, maxAttempts, limit, claimer: claimer(), token, chance };
  }

  async send(delivery: ClaimedDelivery): Promise<void> {
    const { deliveries, clock } = this.parts;
    const endpoint = await this.reachable(delivery);
    if (endpoint === null) return deliveries.cancelOpen(delivery.webhook, delivery);
    const outcome = await this.attempt(delivery, endpoint);
    if ('withdrawn' in outcome) {
      const isGone = (await this.reachable(delivery)) === null;
      if (isGone) return deliveries.cancelOpen(delivery.webhook, delivery);
      return deliveries.giveBack(delivery, clock.nowMs() + GIVEN_BACK_MS);
    }
    await failpoint('hook.answered');
    await this.settle(delivery, endpoint, outcome);
  }

  /**
   * The endpoint as the log has it now; null where nothing may be sent to it. A test also goes to one that is disabled: that
   * is how somebody finds out whether it may be switched on again.
   */
  private async reachable({ org, webhook, type }: ClaimedDelivery): Promise<Webhook | null> {
    const { state } = await this.streams.load(streamRef(webhooksDecider, org));
    const endpoint = state.endpoints.get(webhook);
    if (!endpoint) return null;
    return endpoint.status === 'active' || type === TEST_EVENT_TYPE ? endpoint : null;
  }

  private async attempt(delivery: ClaimedDelivery, endpoint: Webhook): Promise<PostOutcome> {
    const { clock, door, deliveries } = this.parts;
    const { org, webhook, event, type, body: text, traceparent } = delivery;
    const body = new TextEncoder().encode(text);
    const signedMs = clock.nowMs();
    const signature = await this.signature(endpoint, body, signedMs);
    if (signature === null) return { isDelivered: false, httpStatus: null, errorCode: 'vault_unavailable' };
    await failpoint('hook.before_send');
    return door.post({
      org,
      webhook,
      url: endpoint.url,
      headers: [
        ['Content-Type', 'application/json'],
        ['User-Agent', USER_AGENT],
        ['Service-Signature', signature],
        ['Service-Event-Id', event],
        ['Service-Event-Type', type],
        ['Service-Webhook-Id', webhook],
        ...(traceparent === null ? [] : [['traceparent', traceparent] as const]),
      ],
      body,
      timeoutMs: this.settings.timeoutMs,
      mayStillSend: async () => {
        const now = await this.reachable(delivery);
        if (now === null) return 'not_found';
        // A secret that was ended while the connection came up signs nothing that leaves after the answer.
        const isSigned = versionsAt(now, clock.nowMs()) === versionsAt(endpoint, signedMs);
        return isSigned && now.url === endpoint.url && (await deliveries.isClaimed(delivery)) ? null : 'conflict';
      },
    });
  }

  /** Null when no secret of the endpoint can be opened. */
  private async signature(endpoint: Webhook, body: Uint8Array, nowMs: number): Promise<string | null> {
    const { vault, logger } = this.parts;
    const { org, id: webhook } = endpoint;
    const opened = [];
    try {
      for (const { version } of signingAt(endpoint, timestampOf(nowMs))) {
        opened.push(await vault.open({ org, object: webhook, version }));
      }
      const secrets = opened.flatMap((secret) => secret?.fields.get(SECRET_FIELD) ?? []);
      return secrets.length === 0 ? null : signatureHeader(body, Math.floor(nowMs / 1000), secrets);
    } catch (error) {
      logger.error('the secret of a webhook endpoint could not be opened', { org, webhook, error });
      return null;
    } finally {
      for (const secret of opened) secret?.destroy();
    }
  }

  private async settle(delivery: ClaimedDelivery, endpoint: Webhook, outcome: AttemptOutcome): Promise<void> {
    const { clock, deliveries, randomness, meter } = this.parts;
    const nowMs = clock.nowMs();
    const aimedAtMs = epochMsOf(endpoint.aimedAt);
    const attemptsMax = attemptsOf(delivery.type, this.settings.maxAttempts);
    const step = stepAfter(
      outcome,
      { attempt: delivery.attempt, attemptsMax },
      { nowMs, chance: chanceOf(randomness) },
    );
    // Before the row: where the process ends in between, the delivery is taken up again and finds its endpoint disabled.
    const isDisabled = !outcome.isDelivered && (await this.disabled(delivery, aimedAtMs, nowMs));
    await deliveries.settle(delivery, outcome, step, { nowMs, aimedAtMs });
    if (isDisabled) await deliveries.cancelOpen(delivery.webhook, null);
    meter.jobEnded('webhook', step.status === 'delivered' ? 'done' : step.status === 'retrying' ? 'retry' : 'error');
  }

  /** Whether the endpoint was disabled for this failure. What a test finds counts for nothing. */
  private async disabled(
    { org, webhook, type, claim }: ClaimedDelivery,
    aimedAtMs: number,
    nowMs: number,
  ): Promise<boolean> {
    if (type === TEST_EVENT_TYPE) return false;
    const failingSinceMs = (await this.parts.deliveries.failingSince([webhook])).get(webhook);
    if (failingSinceMs === undefined) return false;
    if (!isGivenUp({ failingSinceMs, aimedAtMs }, nowMs, this.settings.disableAfterMs)) return false;
    await failpoint('hook.disable');
    const commandId = `disable webhook ${claim}`;
    const metadata = { org, actor: SYSTEM, requestId: null, commandId, now: timestampOf(nowMs) };
    const data = { webhook, failingSince: timestampOf(failingSinceMs) };
    await this.runner.run(webhooksDecider, org, { type: 'DisableWebhook', data, metadata }, metadata);
    this.parts.logger.warn('a webhook endpoint was disabled: every delivery to it has failed', { org, webhook });
    return true;
  }
}

/** From 0 to 1. */
const chanceOf = (randomness: Randomness): number =>
  randomness.bytes(4).reduce((sum, byte) => sum * 256 + byte, 0) / 2 ** 32;

/** The secrets that sign at a moment, in one text. */
const versionsAt = (endpoint: Webhook, nowMs: number): string =>
  signingAt(endpoint, timestampOf(nowMs))
    .map(({ version }) => version)
    .join(' ');
