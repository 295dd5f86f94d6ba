import { setTimeout as delay } from 'node:timers/promises';
import type { AllStreamSubscription, EventStoreDBClient } from '@eventstore/db-client';
import { type Position, type RecordedEvent, START } from '#libs/domain/kernel';
import type { KurrentConnection } from './kurrent-connection.js';
import { isSystemEvent, recordedEventOf } from './recorded-text.js';

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;
const WATCH_INTERVAL_MS = 5_000;

export interface LiveTailParts {
  readonly connection: KurrentConnection;
  /** Position of the last event of the log. */
  readonly head: () => Promise<Position>;
  /** Called with each event in the order of the log. None is left out since the last `onBegin`. */
  readonly onEvent: (event: RecordedEvent) => void;
  /** Called when the events to come do not continue those sent before. */
  readonly onBegin: () => void;
}

/**
 * The end of the log as the server sends it: one subscription to `$all` for the whole process. A subscription does not
 * come back by itself after the server died, and the server drops one that is too slow; so a new one is begun where the
 * last one ended. It only delivers sooner what a read would find, and nothing relies on it alone.
 */
export class LiveTail {
  private position: Position | null = null;
  /** Callbacks of the callers that wait for a position. */
  private readonly waiting = new Set<() => void>();
  private subscription: AllStreamSubscription | null = null;
  private readonly closing = new AbortController();
  private readonly running: Promise<unknown>;

  constructor(private readonly parts: LiveTailParts) {
    this.running = Promise.all([this.follow(), this.watch()]);
  }

  /** The position up to which every event was delivered; null before the first subscription has begun. */
  get toldUpTo(): Position | null {
    return this.position;
  }

  /**
   * Waits at most `timeoutMs` until every event up to a position was delivered; does not wait while no subscription
   * runs.
   *
   * @returns whether every event up to the position was delivered
   */
  async reached(position: Position, timeoutMs: number): Promise<boolean> {
    const isReached = (): boolean => this.position !== null && this.position >= position;
    if (isReached() || this.subscription === null) return isReached();
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.waiting.delete(look);
        resolve(isReached());
      };
      const look = (): void => {
        if (isReached()) settle();
      };
      const timer = setTimeout(settle, timeoutMs);
      this.waiting.add(look);
    });
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.end();
    await this.running;
  }

  private async follow(): Promise<void> {
    for (let waitMs = FIRST_RETRY_MS; !this.closing.signal.aborted;) {
      try {
        const before = this.position;
        await this.subscribe();
        if (this.position !== before) waitMs = FIRST_RETRY_MS;
      } catch {
        // Nobody waits for this subscription. Requests meet the same fault and report it.
        this.parts.connection.doubt();
      }
      await this.pause(waitMs);
      waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS);
    }
  }

  /** Resolves or rejects when the subscription has ended. */
  private async subscribe(): Promise<void> {
    const client = await this.parts.connection.proven();
    if (this.position === null) {
      this.position = await this.parts.head();
      this.parts.onBegin();
    }
    if (this.closing.signal.aborted) return;
    const subscription = subscribeAfter(client, this.position);
    this.subscription = subscription;
    try {
      await new Promise<void>((resolve, reject) => {
        subscription.on('error', reject).on('close', resolve).on('end', resolve);
        subscription.on('data', ({ event }) => {
          if (event && !isSystemEvent(event) && this.subscription === subscription) this.tell(recordedEventOf(event));
        });
      });
    } finally {
      if (this.subscription === subscription) this.subscription = null;
    }
  }

  private tell(event: RecordedEvent): void {
    // A new subscription may repeat events: none is delivered twice, and the position never goes back.
    if (this.position !== null && event.position <= this.position) return;
    this.position = event.position;
    this.parts.onEvent(event);
    for (const look of this.waiting) look();
  }

  /**
   * Ends a subscription that has delivered nothing for an interval although the log has grown. A hung server, or a
   * connection that is silently dead, would leave it open for ever.
   */
  private async watch(): Promise<void> {
    while (!this.closing.signal.aborted) {
      const [watched, before] = [this.subscription, this.position];
      await this.pause(WATCH_INTERVAL_MS);
      if (watched === null || this.subscription !== watched || this.position !== before) continue;
      const head = await this.parts.head().catch(() => null);
      if (head !== null && before !== null && head > before && this.position === before) this.end();
    }
  }

  private end(): void {
    const ended = this.subscription;
    this.subscription = null;
    // A subscription that still waits for a connection ends together with that connection.
    ended?.destroy();
    void ended?.unsubscribe().catch(() => undefined);
  }

  private pause(durationMs: number): Promise<void> {
    return delay(durationMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
  }
}

const subscribeAfter = (client: EventStoreDBClient, position: Position): AllStreamSubscription => {
  const fromPosition = position === START ? 'start' : { commit: position, prepare: position };
  const subscription = client.subscribeToAll({ fromPosition, requiresLeader: true });
  // The subscription may emit another error after its listeners are gone, which would crash the process.
  subscription.on('error', () => undefined);
  return subscription;
};
