interface Watched {
  readonly watchedMs: number;
  readonly seenAtMs: number;
}

/**
 * Measures how long this sweeper has seen each claim as the current one, by its own monotonic clock. Deadlines are
 * judged by this measure and not by the time of day, which may jump (rule EXEC-5).
 */
export class ClaimWatch {
  private watched = new Map<string, Watched>();

  /**
   * @param longestStepMs the most that the time between two looks may add. A longer gap means that this process paused,
   * and time in which it did not watch does not count
   */
  constructor(private readonly longestStepMs: number) {}

  /**
   * Records a look at the claim.
   * @returns for how many milliseconds the claim has been watched; 0 at the first look
   */
  see(claim: string, nowMs: number): number {
    const known = this.watched.get(claim);
    const stepMs = known ? Math.min(nowMs - known.seenAtMs, this.longestStepMs) : 0;
    const watchedMs = (known?.watchedMs ?? 0) + stepMs;
    this.watched.set(claim, { watchedMs, seenAtMs: nowMs });
    return watchedMs;
  }

  /** Forgets all other claims, because they have ended. */
  keepOnly(claims: ReadonlySet<string>): void {
    for (const claim of this.watched.keys()) if (!claims.has(claim)) this.watched.delete(claim);
  }
}
