/** What one reading of the liveness rows says: executor → how often it has beaten. */
export type Beats = ReadonlyMap<string, number>;

/** When a reading was asked for and answered, on the monotonic clock of whoever reads. */
export interface Reading {
  readonly askedMs: number;
  readonly answeredMs: number;
}

interface Watched {
  readonly beat: number;
  readonly sinceMs: number;
  /** Whether the last reading found it so. */
  isSilent: boolean;
}

/** A row that is not there counts as one that never changes. */
const NEVER_BEAT = -1;

/**
 * Judges silence by the sweeper's own monotonic clock alone: an executor is silent when the same value was read,
 * successfully, over the whole limit (rule EXEC-5). Never by a stored timestamp: clocks differ and jump.
 */
export class ExecutorSilence {
  private readonly watched = new Map<string, Watched>();
  private lastReadingMs: number | null = null;

  constructor(private readonly limitMs: number) {}

  /** A reading failed, or this process itself may have slept: every count starts again. */
  startAgain(): void {
    this.watched.clear();
    this.lastReadingMs = null;
  }

  /**
   * Every row is watched from the first reading on, even before anybody asks for its executor: by then its silence may
   * be known already.
   * @param executors those who are watched even without a row
   * @param reading when it was asked for and answered. What it says was true at some moment between the two, so a value
   *   is known to have stood from the answer to its first reading until the question of its last
   * @returns whether somebody has fallen silent with this reading
   */
  observe(beats: Beats, executors: Iterable<string>, { askedMs, answeredMs }: Reading): boolean {
    // A pause of our own hides beats that happened meanwhile.
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

  /** As of the last reading: nobody has watched the time that has passed since then. */
  isSilent(executor: string): boolean {
    return this.watched.get(executor)?.isSilent ?? false;
  }
}
