import { setTimeout as sleep } from 'node:timers/promises';
import {
  PUBLIC_EVENTS_CHANNEL,
  WEBHOOKS_CHANNEL,
  type Bus,
  type Clock,
  type JobConsumer,
  type JobQueue,
  type Logger,
  type WebhookId,
} from '#libs/domain/kernel';
import type { Deliveries, LostClaims, WebhookDispatcher } from '#libs/domain/webhooks';
import type { LeaseSession } from '#libs/infra/leases';
import { RepeatedFault } from '#libs/infra/logging';
import type { FoldPlace, WebhookFold } from '#libs/infra/webhooks';

/** Where no bell is heard. */
const POLL_MS = 1_000;
/** How often the claims of processes that are gone are looked for: an endpoint hears again within 5 s of a start. */
const LOOK_MS = 500;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** A job says to whom something is due, and is over when that is heard. */
const JOBS_AT_ONCE = 16;
/** More of them are found by the next sweep. */
const ENDPOINTS_A_SWEEP = 1_000;

export interface WebhookLoopParts {
  readonly fold: Pick<WebhookFold, 'resume' | 'fold'>;
  readonly dispatcher: Pick<WebhookDispatcher, 'ring' | 'close' | 'idle'>;
  readonly deliveries: Pick<Deliveries, 'dueEndpoints'>;
  readonly lost: Pick<LostClaims, 'end'>;
  readonly queue: Pick<JobQueue, 'add' | 'process'>;
  readonly bus: Bus;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/**
 * Sends what is due to webhooks: when a job or a bell says so, and every so often, since both may be lost. Every worker does;
 * one of them, which holds a lease, also makes what is due of the public events.
 */
export class WebhookLoop {
  private timer: NodeJS.Timeout | null = null;
  private looking: NodeJS.Timeout | null = null;
  private consumer: JobConsumer | null = null;
  private underWay: Promise<void> | null = null;
  private look: Promise<void> | null = null;
  private isStopping = false;
  private unsubscribe: () => void = () => undefined;
  private readonly unswept: RepeatedFault;
  private readonly unlooked: RepeatedFault;
  private readonly unfolded: RepeatedFault;

  constructor(
    private readonly parts: WebhookLoopParts,
    private readonly intervalMs: number,
  ) {
    const { logger } = parts;
    this.unswept = new RepeatedFault((fault) =>
      logger.error('webhook deliveries that are due could not be read', fault),
    );
    this.unlooked = new RepeatedFault((fault) =>
      logger.error('webhook deliveries of processes that are gone could not be looked for', fault),
    );
    this.unfolded = new RepeatedFault((fault) =>
      logger.error('public events could not be made into webhook deliveries', fault),
    );
  }

  start(): void {
    const { dispatcher, queue, bus } = this.parts;
    this.unsubscribe = bus.subscribe(WEBHOOKS_CHANNEL, (webhook) => dispatcher.ring(webhook as WebhookId));
    this.consumer = queue.process('webhooks', JOBS_AT_ONCE, (webhook) => {
      dispatcher.ring(webhook as WebhookId);
      return Promise.resolve();
    });
    this.timer = setInterval(() => this.sweepOnce(), this.intervalMs);
    this.sweepOnce();
    this.looking = setInterval(() => this.lookOnce(), LOOK_MS);
    this.lookOnce();
  }

  /** Takes up nothing more; what is under way ends by itself. */
  takeUpNothingMore(): void {
    this.isStopping = true;
    if (this.timer) clearInterval(this.timer);
    if (this.looking) clearInterval(this.looking);
    this.unsubscribe();
    this.parts.dispatcher.close();
  }

  /** Ends after the deliveries under way. */
  async stop(): Promise<void> {
    this.takeUpNothingMore();
    await Promise.all([this.consumer?.close(), this.underWay, this.look, this.parts.dispatcher.idle()]);
  }

  /** Makes public events into deliveries until `held` ends it. @param session of the lease that one process holds */
  async follow(held: AbortSignal, session: LeaseSession): Promise<void> {
    const bell = new Bell();
    const unsubscribe = this.parts.bus.subscribe(PUBLIC_EVENTS_CHANNEL, () => bell.ring());
    let retryMs = FIRST_RETRY_MS;
    let place: FoldPlace | null = null;
    try {
      while (!held.aborted) {
        try {
          place ??= await this.parts.fold.resume(session);
          const heard = bell.next();
          const folded = await this.parts.fold.fold(session, place);
          place = folded.place;
          this.tell(folded.webhooks);
          this.unfolded.over();
          retryMs = FIRST_RETRY_MS;
          if (!folded.hasMore) await ended(held, heard, POLL_MS);
        } catch (error) {
          if (held.aborted) return;
          this.unfolded.met(error);
          // Whether the statement was written is not known: its checkpoint says.
          place = null;
          await ended(held, new Promise(() => undefined), retryMs);
          retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
        }
      }
    } finally {
      unsubscribe();
    }
  }

  /** A job that cannot be added is no loss: the sweep finds what it would have rung for. */
  private tell(webhooks: readonly WebhookId[]): void {
    for (const webhook of webhooks) {
      this.parts.queue.add('webhooks', webhook).catch(() => this.parts.dispatcher.ring(webhook));
    }
  }

  private sweepOnce(): void {
    if (this.isStopping) return;
    this.underWay ??= this.sweep().finally(() => {
      this.underWay = null;
    });
  }

  private lookOnce(): void {
    if (this.isStopping) return;
    this.look ??= this.endLost().finally(() => {
      this.look = null;
    });
  }

  private async endLost(): Promise<void> {
    const { dispatcher, lost } = this.parts;
    try {
      for (const webhook of await lost.end()) dispatcher.ring(webhook);
      this.unlooked.over();
    } catch (error) {
      this.unlooked.met(error);
    }
  }

  private async sweep(): Promise<void> {
    const { deliveries, dispatcher, clock } = this.parts;
    try {
      for (const webhook of await deliveries.dueEndpoints(clock.nowMs(), ENDPOINTS_A_SWEEP)) dispatcher.ring(webhook);
      this.unswept.over();
    } catch (error) {
      this.unswept.met(error);
    }
  }
}

/** Heard by whoever asked before it rang. */
class Bell {
  private heard: () => void = () => undefined;

  next(): Promise<void> {
    return new Promise((resolve) => (this.heard = resolve));
  }

  ring(): void {
    this.heard();
  }
}

/** Until the bell, the end or the time, whichever comes first. */
const ended = async (signal: AbortSignal, bell: Promise<void>, ms: number): Promise<void> => {
  const enough = new AbortController();
  const pause = sleep(ms, undefined, { signal: AbortSignal.any([signal, enough.signal]) }).catch(() => undefined);
  await Promise.race([bell, pause]);
  enough.abort();
};
