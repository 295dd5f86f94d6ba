import {
  readPage,
  readWholeAppends,
  type LogPage,
  type Position,
  type RecordedEvent,
  type SubscribeOptions,
  type Subscription,
} from '#libs/domain/kernel';
import type { AppendBell } from './append-bell.js';
import type { IsNext, LogReader } from './recent-events.js';

const DEFAULT_BATCH_SIZE = 500;
const FIRST_RETRY_MS = 50;
const LONGEST_HANDLER_RETRY_MS = 5_000;
const LONGEST_READ_RETRY_MS = 1_000;
const NOTHING: LogPage = { events: [], isLast: true };

/** An event is missing from a log whose positions have no gaps. Nothing after the hole is ever handed on. */
export class LogHasHole extends Error {
  override readonly name = 'LogHasHole';
  constructor(
    readonly missing: Position,
    readonly found: Position,
  ) {
    super(`position ${missing} is missing from the log, which goes on at ${found}; restore the log before going on`);
  }
}

export interface FollowedLog {
  /** As that of the store; where batches are to be of whole appends, with all that it says of the last append, too. */
  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]>;
  readonly bell: AppendBell;
  readonly isNext: IsNext;
  /** Where it says how far it is, from its beginning to its end. Default: nowhere. */
  readonly readers?: Set<LogReader>;
  /** How often to look for what other processes appended. */
  readonly pollIntervalMs: number;
}

/** Follows a log by reading it: told at once of appends here, and by polling of all others. */
export class LogSubscription implements Subscription {
  private current: Position;
  private isRung = false;
  private isHurried = false;
  private isClosed = false;
  private wake: { readonly on: 'ring' | 'hurry' | 'close'; call(): void } | null = null;
  private readonly running: Promise<void>;
  private readonly batchSize: number;
  private readonly lingerMs: number;

  constructor(
    private readonly log: FollowedLog,
    private readonly options: SubscribeOptions,
  ) {
    this.current = options.after;
    this.batchSize = options.batchSize ?? DEFAULT_BATCH_SIZE;
    this.lingerMs = options.lingerMs ?? 0;
    const leave = log.bell.listen(() => this.ring());
    log.readers?.add(this);
    this.running = this.run().finally(() => {
      leave();
      log.readers?.delete(this);
    });
  }

  get position(): Position {
    return this.current;
  }

  hurry(): void {
    this.isHurried = true;
    if (this.wake?.on === 'ring' || this.wake?.on === 'hurry') this.wake.call();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.wake?.call();
    await this.running;
  }

  private ring(): void {
    this.isRung = true;
    if (this.wake?.on === 'ring') this.wake.call();
  }

  private async run(): Promise<void> {
    for (let mayHaveMore = true; !this.isClosed;) {
      if (!mayHaveMore) await this.untilCalled();
      // Before the read: what is appended during it rings for the next one.
      this.isRung = false;
      this.isHurried = false;
      const { events, isLast } = await this.read();
      if (events.length > 0) await this.handle(events);
      mayHaveMore = !isLast;
    }
  }

  private async untilCalled(): Promise<void> {
    if (!this.isRung && !this.isHurried) await this.sleep(this.log.pollIntervalMs, 'ring');
    if (this.isRung && !this.isHurried && this.lingerMs > 0) await this.sleep(this.lingerMs, 'hurry');
  }

  private async read(): Promise<LogPage> {
    const nextPage = this.options.inWholeAppends ? readWholeAppends : readPage;
    const page = await this.untilSuccess(LONGEST_READ_RETRY_MS, async () => {
      const found = await nextPage((after, limit) => this.log.readAll(after, limit), this.current, this.batchSize);
      this.checkComplete(found.events);
      return found;
    });
    return page ?? NOTHING;
  }

  private checkComplete(events: readonly RecordedEvent[]): void {
    let end = this.current;
    for (const { position } of events) {
      if (!this.log.isNext(end, position)) throw new LogHasHole(end + 1n, position);
      end = position;
    }
  }

  private async handle(events: readonly RecordedEvent[]): Promise<void> {
    await this.untilSuccess(LONGEST_HANDLER_RETRY_MS, async () => {
      await this.options.onEvents(events);
      this.current = events.at(-1)?.position ?? this.current;
    });
  }

  /** Tries again after a growing delay, reporting each failure. Null when the subscription was closed before a success. */
  private async untilSuccess<Result>(longestMs: number, attempt: () => Promise<Result>): Promise<Result | null> {
    for (let waitMs = FIRST_RETRY_MS; !this.isClosed; waitMs = Math.min(2 * waitMs, longestMs)) {
      try {
        return await attempt();
      } catch (error) {
        this.options.onError(error);
        if (!this.isClosed) await this.sleep(waitMs, 'close');
      }
    }
    return null;
  }

  private sleep(durationMs: number, on: 'ring' | 'hurry' | 'close'): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    return new Promise((settle) => {
      const call = (): void => {
        clearTimeout(timer);
        this.wake = null;
        settle();
      };
      const timer = setTimeout(call, durationMs);
      this.wake = { on, call };
    });
  }
}
