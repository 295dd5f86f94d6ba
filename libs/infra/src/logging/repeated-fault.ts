import type { LogAttributes } from '#libs/domain/kernel';

/** How often a fault that stays the same is told. */
const TELL_AGAIN_MS = 60_000;

/**
 * What a loop meets at every try: told at once where it is new, and once a minute for as long as it stays the same, with
 * how often it was met in between.
 */
export class RepeatedFault {
  private said: string | null = null;
  private toldAtMs = 0;
  private untold = 0;

  constructor(
    private readonly tell: (attributes: LogAttributes) => void,
    private readonly monotonicMs: () => number = () => performance.now(),
  ) {}

  /** It was met, by one try more. */
  met(error: unknown): void {
    const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const nowMs = this.monotonicMs();
    if (said === this.said && nowMs - this.toldAtMs < TELL_AGAIN_MS) {
      this.untold += 1;
      return;
    }
    this.tell({ error, ...(said === this.said ? { repeated: this.untold + 1 } : {}) });
    this.said = said;
    this.toldAtMs = nowMs;
    this.untold = 0;
  }

  /** A try went well: the next fault is a new one. */
  over(): void {
    this.said = null;
  }
}
