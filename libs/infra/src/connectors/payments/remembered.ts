import type { Clock } from '#libs/domain/kernel';

/** What was read a moment ago, by name: whoever asks for it while it is read waits for that read, and failures are forgotten. */
export class Remembered<Value> {
  private readonly entries = new Map<string, { readonly value: Value; readonly atMs: number }>();
  private readonly reads = new Map<string, Promise<Value | null>>();

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly limits: { readonly ageMs: number; readonly entries: number },
  ) {}

  /** Null where it is not known, or not any more. */
  known(name: string): Value | null {
    const entry = this.entries.get(name);
    if (entry === undefined) return null;
    if (this.clock.monotonicMs() - entry.atMs < this.limits.ageMs) return entry.value;
    this.entries.delete(name);
    return null;
  }

  remember(name: string, value: Value): void {
    this.entries.delete(name);
    this.entries.set(name, { value, atMs: this.clock.monotonicMs() });
    if (this.entries.size > this.limits.entries) this.entries.delete(this.entries.keys().next().value as string);
  }

  forget(name: string): void {
    this.entries.delete(name);
  }

  /** @param read null where it could not be read */
  async read(name: string, read: () => Promise<Value | null>): Promise<Value | null> {
    const known = this.known(name) ?? this.reads.get(name);
    if (known !== undefined && known !== null) return known;
    const reading = read().finally(() => this.reads.delete(name));
    this.reads.set(name, reading);
    const value = await reading;
    if (value !== null) this.remember(name, value);
    return value;
  }
}
