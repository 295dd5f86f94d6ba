/** The claims of one run. They are released together when it ends. */
export interface HeldClaims {
  /** In the order of `add`. */
  readonly claims: readonly string[];
  add(claim: string): void;
  /** Extends the time for which the claims are held. */
  holdUntil(untilMs: number): void;
  release(): void;
}

/** The executions of this process: the claims that it holds, and the promises of the work itself. */
export class ClaimsUnderWay {
  private readonly heldUntilMs = new Map<string, number>();
  private readonly work = new Set<Promise<unknown>>();

  /** @param untilMs on the monotonic clock. A run that is not over by then is stuck, and a sweeper may end it */
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
    this.work.add(work);
    try {
      return await work;
    } finally {
      this.work.delete(work);
    }
  }

  /** Resolves when no work is under way, whether it succeeded or failed. */
  async idle(): Promise<void> {
    while (this.work.size > 0) await Promise.allSettled(this.work);
  }
}
