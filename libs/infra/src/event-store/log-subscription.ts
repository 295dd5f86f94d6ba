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

/** An event is missing from a log whose positions have no gaps. No event after the hole is ever delivered. */
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
  /**
   * As {@link EventStore.readAll}. For batches of whole appends, a page shorter than `limit` must end with a complete
   * append.
   */
  readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]>;
  readonly bell: AppendBell;
  readonly isNext: IsNext;
  /** The set that holds this subscription while it runs, so that others can see its position. Default: none. */
  readonly readers?: Set<LogReader>;
  /** How often to read the log in case other processes have appended. */
  readonly pollIntervalMs: number;
}

/** Follows a log by reading it: at once after an append of this process, and by polling for appends of others. */
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
      // Reset before the read, so that an append during the read causes another one.
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

  /**
   * Repeats an attempt after growing delays, and reports each failure. Null if the subscription was closed before an
   * attempt succeeded.
   */
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
