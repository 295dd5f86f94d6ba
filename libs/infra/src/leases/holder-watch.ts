/**
 * How long a holder may give no sign of life (docs/adr/0015). Longer than a holder needs to give up by itself when its
 * database does not answer; short enough for a takeover within 5 s of its last beat: this time, two readings and the
 * start of the successor.
 */
export const HOLDER_SILENCE_MS = 3_000;

/**
 * A value that changes with each sign of life of the holder; null if nobody holds the lease, or nothing is known of the
 * holder.
 */
export type HolderBeat = string | null;

/**
 * Judges a holder by the waiting process's own monotonic clock: the holder is silent if the same beat was read, without
 * a failed reading, for longer than the limit. Stored times are not used, because clocks differ and jump.
 */
export class HolderWatch {
  private watched: { readonly beat: HolderBeat; readonly sinceMs: number } | null = null;
  private lastReadingMs: number | null = null;

  constructor(private readonly limitMs = HOLDER_SILENCE_MS) {}

  /** The beat as it was last read. */
  get beat(): HolderBeat {
    return this.watched?.beat ?? null;
  }

  /** Starts the measurement again after a failed reading, because the holder may have shown a beat meanwhile. */
  startAgain(): void {
    this.watched = null;
    this.lastReadingMs = null;
  }

  /** @param nowMs by this process's monotonic clock */
  isSilent(beat: HolderBeat, nowMs: number): boolean {
    // If this process itself paused, it may have missed beats.
    if (this.lastReadingMs !== null && nowMs - this.lastReadingMs > this.limitMs) this.watched = null;
    this.lastReadingMs = nowMs;
    if (this.watched?.beat !== beat) this.watched = { beat, sinceMs: nowMs };
    return beat !== null && nowMs - this.watched.sinceMs > this.limitMs;
  }
}
