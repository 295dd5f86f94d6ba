import type { EventId, WebhookId } from '../kernel/index.js';
import type { AttemptOutcome, ClaimedDelivery, Delivery, DeliveryStatus, DeliveryStep } from './delivery.js';
import type { OutgoingEvent } from './outgoing-event.js';

/** What claiming needs that no row knows. */
export interface ClaimTerms {
  readonly nowMs: number;
  /** Of one attempt. */
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  /** At most so many are claimed now. */
  readonly limit: number;
  /** Names the process that claims, so that others find out when it is gone; null where nothing shows that it lives. */
  readonly claimer: string | null;
  /** A new random token at each call. */
  readonly token: () => string;
  /** From 0 to 1, at each call: where a retry falls. */
  readonly chance: () => number;
}

export interface DeliveryPlace {
  readonly createdAt: string;
  readonly id: string;
}

export interface DeliveryPage {
  readonly limit: number;
  readonly after: DeliveryPlace | null;
  /** Those in one of these; null for all. */
  readonly statuses: readonly DeliveryStatus[] | null;
}

/**
 * Deliveries on their way: rows beside the log, made by a fold of the public events, one for each event and endpoint. They
 * say what is to be sent and how far it came; whether an endpoint may be sent anything is the log's to say.
 */
export abstract class Deliveries {
  /**
   * Takes up what is due to an endpoint, under its row's lock: at most four are under way in all processes together.
   * What was claimed is counted as an attempt.
   */
  abstract claim(webhook: WebhookId, terms: ClaimTerms): Promise<readonly ClaimedDelivery[]>;

  /** Whether nobody has taken it up since. */
  abstract isClaimed(delivery: ClaimedDelivery): Promise<boolean>;

  /** Of those endpoints whose last attempt has failed: since when every one has. Unix milliseconds. */
  abstract failingSince(webhooks: readonly WebhookId[]): Promise<ReadonlyMap<WebhookId, number>>;

  /** Of those endpoints to which something waits for its first attempt: since when the oldest does. Unix milliseconds. */
  abstract waitingSince(webhooks: readonly WebhookId[]): Promise<ReadonlyMap<WebhookId, number>>;

  /**
   * Writes what came of an attempt. A success counts whoever reports it; a failure only under the claim that stands.
   * @param aimedAtMs failures from before do not count against the endpoint
   */
  abstract settle(
    delivery: ClaimedDelivery,
    outcome: AttemptOutcome,
    step: DeliveryStep,
    at: { readonly nowMs: number; readonly aimedAtMs: number },
  ): Promise<void>;

  /** Nothing was sent, for reasons of ours: it is as before its claim, and due at `dueMs`. */
  abstract giveBack(delivery: ClaimedDelivery, dueMs: number): Promise<void>;

  /** Ends what is open to an endpoint that is disabled or gone, and is under way nowhere else. */
  abstract cancelOpen(webhook: WebhookId, delivery: ClaimedDelivery | null): Promise<void>;

  /** Processes with a claim under way that nothing shows to be alive. */
  abstract absentClaimers(nowMs: number): Promise<readonly string[]>;

  /** Ends the claims of a process that is gone: what it had under way is due. @returns to which endpoints */
  abstract endClaimsOf(claimer: string, nowMs: number): Promise<readonly WebhookId[]>;

  /** Endpoints that something is due to, those that wait longest first. */
  abstract dueEndpoints(nowMs: number, limit: number): Promise<readonly WebhookId[]>;

  /** Newest first, after a place. */
  abstract page(
    webhook: WebhookId,
    page: DeliveryPage,
  ): Promise<{ readonly rows: readonly Delivery[]; readonly hasMore: boolean }>;

  abstract find(webhook: WebhookId, event: EventId): Promise<Delivery | null>;

  /**
   * Makes a delivery due now. One that is over begins anew with its first attempt; one that waits goes on where it was; one
   * that is under way stays so. Null when there is no delivery of that event to that endpoint.
   */
  abstract sendAgain(webhook: WebhookId, event: EventId, nowMs: number): Promise<Delivery | null>;

  /**
   * A delivery that is added and claimed at once, for whoever waits for its outcome. Null, and nothing added, while as many
   * are under way as may be, or when the event has a delivery already.
   */
  abstract addClaimed(webhook: WebhookId, event: OutgoingEvent, terms: ClaimTerms): Promise<ClaimedDelivery | null>;

  /** Ends as dead what has been due since before then and was never tried. @returns how many */
  abstract endStale(dueBeforeMs: number, nowMs: number): Promise<number>;

  /** Removes deliveries that ended before then. @returns how many */
  abstract removeEnded(beforeMs: number): Promise<number>;
}
