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
  /** Told of each event, in the order of the log, none left out since it last `began`. */
  readonly onEvent: (event: RecordedEvent) => void;
  /** What comes from now on does not follow what was told so far. */
  readonly onBegin: () => void;
}

/**
 * The end of the log as the server sends it: one subscription to `$all` for the whole process. It never ends: subscriptions
 * do not come back by themselves after the server died, and one that fell behind is dropped as too slow, so a new one
 * begins where the last one was. It only tells sooner what a read would find, and nobody relies on it.
 */
export class LiveTail {
  private position: Position | null = null;
  /** Who waits for a position. */
  private readonly waiting = new Set<() => void>();
  private subscription: AllStreamSubscription | null = null;
  private readonly closing = new AbortController();
  private readonly running: Promise<unknown>;

  constructor(private readonly parts: LiveTailParts) {
    this.running = Promise.all([this.follow(), this.watch()]);
  }

  /** Everything up to here was told; null before the first telling begins. */
  get toldUpTo(): Position | null {
    return this.position;
  }

  /**
   * Waits until everything up to a position was told, at most `timeoutMs`, and not at all while nothing is being told.
   *
   * @returns whether it was
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
        // Requests say what is wrong with the server; here there is nobody to tell.
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
    // What was told is never told again, and nobody is led back.
    if (this.position !== null && event.position <= this.position) return;
    this.position = event.position;
    this.parts.onEvent(event);
    for (const look of this.waiting) look();
  }

  /** A server that hangs, or a connection that is dead without a word, ends no subscription: here it is ended. */
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
    // One that waits for a connection ends with the connection.
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
  // It may fail once more after nobody listens.
  subscription.on('error', () => undefined);
  return subscription;
};
