import type { Clock } from '#libs/domain/kernel';

/** Somebody who asked while a read was under way waits for it, and for one more where that one failed. */
const JOINED_MAX = 2;

/** What was read a moment ago, by name. Failures are forgotten. */
export class Remembered<Value> {
  private readonly entries = new Map<string, { readonly value: Value; readonly atMs: number }>();
  private readonly reads = new Map<string, Promise<Value | null>>();
  private forgotten = 0;

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

  /** Under whatever names they are known. What is being read is not remembered either: it may have been read before. */
  forget(isMeant: (value: Value) => boolean): void {
    this.forgotten += 1;
    for (const [name, { value }] of this.entries) if (isMeant(value)) this.entries.delete(name);
  }

  /** @param read null where it could not be read */
  async read(name: string, read: () => Promise<Value | null>): Promise<Value | null> {
    const { forgotten } = this;
    const value = await read();
    if (value !== null && forgotten === this.forgotten) this.remember(name, value);
    return value;
  }

  /** One read for all who ask at once. Whoever waited for one that failed reads by itself: it may have been stopped or late. */
  async readTogether(name: string, read: () => Promise<Value | null>): Promise<Value | null> {
    for (let joined = 0; joined < JOINED_MAX; joined += 1) {
      const others = this.reads.get(name);
      if (others === undefined) break;
      const value = await others.catch(() => null);
      if (value !== null) return value;
    }
    const reading = this.read(name, read);
    this.reads.set(name, reading);
    try {
      return await reading;
    } finally {
      if (this.reads.get(name) === reading) this.reads.delete(name);
    }
  }

  private remember(name: string, value: Value): void {
    this.entries.delete(name);
    this.entries.set(name, { value, atMs: this.clock.monotonicMs() });
    if (this.entries.size > this.limits.entries) this.entries.delete(this.entries.keys().next().value as string);
  }
}
