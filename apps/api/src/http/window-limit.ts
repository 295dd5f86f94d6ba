import { type Clock, DomainError } from '#libs/domain/kernel';

/** Memory stays bounded under any number of keys: the ones not heard of for longest are forgotten. */
const MAX_KEYS = 10_000;

/**
 * So many in any window of time, exactly, by key and in this process (rule API-15).
 */
export class WindowLimit {
  /** Monotonic times of what counts still, oldest first. */
  private readonly taken = new Map<string, readonly number[]>();

  constructor(
    private readonly clock: Clock,
    private readonly max: number,
    private readonly windowMs: number,
  ) {}

  /** Counts one. @throws {DomainError} rate_limited, with the seconds until one more may come; it is not counted */
  take(key: string): void {
    this.require(key);
    this.count(key);
  }

  /**
   * @param underWay so many more may come to count at any moment
   * @throws {DomainError} rate_limited, with the seconds until one more may come
   */
  require(key: string, underWay = 0): void {
    const times = this.timesOf(key);
    if (times.length + underWay < this.max) return;
    // Where those under way alone fill it up, each of them may make room as soon as it has ended.
    const blockingMs = times[times.length - this.max];
    const freeAtMs = blockingMs === undefined ? 0 : blockingMs + this.windowMs;
    throw new DomainError('rate_limited', {
      retryAfterSeconds: Math.max(1, Math.ceil((freeAtMs - this.clock.monotonicMs()) / 1000)),
    });
  }

  count(key: string): void {
    const times = [...this.timesOf(key), this.clock.monotonicMs()];
    this.taken.delete(key);
    this.taken.set(key, times);
    if (this.taken.size > MAX_KEYS) this.taken.delete(this.taken.keys().next().value as string);
  }

  private timesOf(key: string): readonly number[] {
    const since = this.clock.monotonicMs() - this.windowMs;
    return (this.taken.get(key) ?? []).filter((time) => time > since);
  }
}
