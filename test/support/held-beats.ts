import { type Beats, Liveness } from '#libs/domain/gate';

interface HeldBeat {
  readonly beat: number;
  readonly beatenMs: number;
}

/** Beats of processes, for tests that need no database. */
export class HeldBeats extends Liveness {
  private readonly rows = new Map<string, HeldBeat>();

  override beat(executor: string): Promise<void> {
    const beat = (this.rows.get(executor)?.beat ?? 0) + 1;
    this.rows.set(executor, { beat, beatenMs: performance.now() });
    return Promise.resolve();
  }

  override read(): Promise<Beats> {
    return Promise.resolve(new Map([...this.rows].map(([executor, { beat }]) => [executor, beat])));
  }

  override isAnyBeating(withinMs: number): Promise<boolean> {
    const afterMs = performance.now() - withinMs;
    return Promise.resolve([...this.rows.values()].some(({ beatenMs }) => beatenMs > afterMs));
  }

  override remove(executor: string): Promise<void> {
    this.rows.delete(executor);
    return Promise.resolve();
  }

  override removeForgotten(silentForMs: number): Promise<number> {
    const beforeMs = performance.now() - silentForMs;
    const forgotten = [...this.rows].filter(([, { beatenMs }]) => beatenMs < beforeMs);
    for (const [executor] of forgotten) this.rows.delete(executor);
    return Promise.resolve(forgotten.length);
  }

  /** As if the last beat of that process had been so much earlier. */
  setBack(executor: string, byMs: number): void {
    const row = this.rows.get(executor);
    if (row) this.rows.set(executor, { ...row, beatenMs: row.beatenMs - byMs });
  }
}
