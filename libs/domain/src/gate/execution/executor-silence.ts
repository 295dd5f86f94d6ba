/** One reading of the liveness rows: executor → number of its last beat. */
export type Beats = ReadonlyMap<string, number>;

/** When a reading was requested and answered, on the reader's monotonic clock. */
export interface Reading {
  readonly askedMs: number;
  readonly answeredMs: number;
}

interface Watched {
  readonly beat: number;
  readonly sinceMs: number;
  /** As of the last reading. */
  isSilent: boolean;
}

/** The beat of an executor without a row: it counts as a row that never changes. */
const NEVER_BEAT = -1;

/**
 * Finds executors that have stopped beating. An executor is silent if every reading over more than the limit, on the
 * sweeper's own monotonic clock, gave the same beat (rule EXEC-5). Stored timestamps are not used, because clocks
 * differ and jump.
 */
export class ExecutorSilence {
  private readonly watched = new Map<string, Watched>();
  private lastReadingMs: number | null = null;

  constructor(private readonly limitMs: number) {}

  /**
   * Forgets everything seen so far. To be called if a reading failed or this process may have been paused, because
   * beats may have been missed.
   */
  startAgain(): void {
    this.watched.clear();
    this.lastReadingMs = null;
  }

  /**
   * Takes in one reading. Every row is watched from its first reading on, even before `isSilent` is asked about its
   * executor, so that the answer may be known by then.
   * @param executors executors to watch even if they have no row
   * @param reading when the reading was requested and answered. The rows are as of some moment between the two, so a
   * beat is known to have stood from the answer of the first reading that showed it to the request of the last
   * @returns whether an executor has become silent by this reading
   */
  observe(beats: Beats, executors: Iterable<string>, { askedMs, answeredMs }: Reading): boolean {
    // After a pause this long, beats may have been missed.
    if (this.lastReadingMs !== null && answeredMs - this.lastReadingMs > this.limitMs) this.watched.clear();
    this.lastReadingMs = answeredMs;
    const wanted = new Set([...beats.keys(), ...executors]);
    for (const executor of this.watched.keys()) if (!wanted.has(executor)) this.watched.delete(executor);
    let hasFallenSilent = false;
    for (const executor of wanted) {
      const beat = beats.get(executor) ?? NEVER_BEAT;
      const known = this.watched.get(executor);
      if (known?.beat !== beat) {
        this.watched.set(executor, { beat, sinceMs: answeredMs, isSilent: false });
      } else if (!known.isSilent && askedMs - known.sinceMs > this.limitMs) {
        known.isSilent = true;
        hasFallenSilent = true;
      }
    }
    return hasFallenSilent;
  }

  /** As of the last reading. */
  isSilent(executor: string): boolean {
    return this.watched.get(executor)?.isSilent ?? false;
  }
}
