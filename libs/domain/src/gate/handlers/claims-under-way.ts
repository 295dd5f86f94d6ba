import { TransientSet } from '../../kernel/index.js';

/** Claims that one run holds, together until it is over. */
export interface HeldClaims {
  /** In the order in which they were added. */
  readonly claims: readonly string[];
  add(claim: string): void;
  /** For longer than it was begun for. */
  holdUntil(untilMs: number): void;
  release(): void;
}

/** What this process is executing: the claims that it holds, and the work itself. */
export class ClaimsUnderWay {
  private readonly heldUntilMs = new Map<string, number>();
  private readonly work = new TransientSet<Promise<unknown>>();

  /** @param untilMs on the monotonic clock: a run that is not over by then has broken its promise, and others may end it */
  hold(untilMs: number): HeldClaims {
    const claims: string[] = [];
    return {
      claims,
      add: (claim) => {
        claims.push(claim);
        this.heldUntilMs.set(claim, untilMs);
      },
      holdUntil: (laterMs) => {
        for (const claim of claims) this.heldUntilMs.set(claim, laterMs);
      },
      release: () => {
        for (const claim of claims) this.heldUntilMs.delete(claim);
      },
    };
  }

  holds(claim: string, nowMs: number): boolean {
    return nowMs < (this.heldUntilMs.get(claim) ?? -Infinity);
  }

  get count(): number {
    return this.work.size;
  }

  /** Counts `work` as under way until it is over. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    const leave = this.work.add(work);
    try {
      return await work;
    } finally {
      leave();
    }
  }

  /** Resolves when nothing is under way, however it has ended. */
  async idle(): Promise<void> {
    while (this.work.size > 0) await Promise.allSettled(this.work.values());
  }
}
