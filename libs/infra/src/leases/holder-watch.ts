/**
 * How long a holder may show nothing (docs/adr/0015). Longer than a holder whose database has fallen silent needs to give up
 * by itself; short enough that takeover is within 5 s of its last beat: this, two readings and the successor's start.
 */
export const HOLDER_SILENCE_MS = 3_000;

/** What changes whenever a holder shows itself; null where nobody holds the lease, or nothing is told of who does. */
export type HolderBeat = string | null;

/**
 * Judges a holder by the waiter's own monotonic clock alone: it stands still when the same beat was read, successfully, over
 * the whole limit. Never by a stored time: clocks differ and jump.
 */
export class HolderWatch {
  private watched: { readonly beat: HolderBeat; readonly sinceMs: number } | null = null;
  private lastReadingMs: number | null = null;

  constructor(private readonly limitMs = HOLDER_SILENCE_MS) {}

  /** As last read. */
  get beat(): HolderBeat {
    return this.watched?.beat ?? null;
  }

  /** A reading failed: what happened meanwhile is not known. */
  startAgain(): void {
    this.watched = null;
    this.lastReadingMs = null;
  }

  /** @param nowMs of this process's monotonic clock */
  isSilent(beat: HolderBeat, nowMs: number): boolean {
    // A pause of our own hides beats that happened meanwhile.
    if (this.lastReadingMs !== null && nowMs - this.lastReadingMs > this.limitMs) this.watched = null;
    this.lastReadingMs = nowMs;
    if (this.watched?.beat !== beat) this.watched = { beat, sinceMs: nowMs };
    return beat !== null && nowMs - this.watched.sinceMs > this.limitMs;
  }
}
