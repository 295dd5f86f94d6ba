interface Watched {
  readonly watchedMs: number;
  readonly seenAtMs: number;
}

/**
 * How long a sweeper has itself seen each claim as the current one, by its own monotonic clock: deadlines are judged by
 * this and not by the time of day, which may jump by an hour (rule EXEC-5).
 */
export class ClaimWatch {
  private watched = new Map<string, Watched>();

  /**
   * @param longestStepMs the most that the time between two looks counts: while this process paused, it did not watch
   */
  constructor(private readonly longestStepMs: number) {}

  /** @returns how long it has been watched, this look included: 0 at the first */
  see(claim: string, nowMs: number): number {
    const known = this.watched.get(claim);
    const stepMs = known ? Math.min(nowMs - known.seenAtMs, this.longestStepMs) : 0;
    const watchedMs = (known?.watchedMs ?? 0) + stepMs;
    this.watched.set(claim, { watchedMs, seenAtMs: nowMs });
    return watchedMs;
  }

  /** Forgets all claims but these: the others have ended. */
  keepOnly(claims: ReadonlySet<string>): void {
    for (const claim of this.watched.keys()) if (!claims.has(claim)) this.watched.delete(claim);
  }
}
