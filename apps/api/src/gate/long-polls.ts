import { Injectable } from '@nestjs/common';
import { DomainError } from '#libs/domain/kernel';

/** The most open waits of one caller in this process (rule GATE-11). */
const OPEN_MAX = 20;
const RETRY_AFTER_SECONDS = 1;

/** Counts the waits that each caller holds open. */
@Injectable()
export class LongPolls {
  private readonly open = new Map<string, number>();

  /** Whether `hold` would not refuse the caller now. */
  hasRoomFor(caller: string): boolean {
    return (this.open.get(caller) ?? 0) < OPEN_MAX;
  }

  /** @throws {DomainError} rate_limited if the caller already has {@link OPEN_MAX} open waits */
  async hold<Result>(caller: string, wait: () => Promise<Result>): Promise<Result> {
    const count = this.open.get(caller) ?? 0;
    if (!this.hasRoomFor(caller)) throw new DomainError('rate_limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    this.open.set(caller, count + 1);
    try {
      return await wait();
    } finally {
      const left = (this.open.get(caller) ?? 1) - 1;
      if (left === 0) this.open.delete(caller);
      else this.open.set(caller, left);
    }
  }
}
