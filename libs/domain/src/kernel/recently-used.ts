import { plainMap, type ValuesByName } from './values-by-name.js';

/** The limits of a cache. */
export interface Capacity {
  readonly entries: number;
  /** The sum over all entries, in the unit of their weights. */
  readonly weight: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
}

/** How much of its capacity a cache keeps when it makes room. */
const KEPT_SHARE = 0.9;

/**
 * A cache of values by name. It keeps the values that were used last, up to its capacity. It is no store: whatever it
 * has dropped must be found again elsewhere.
 */
export class RecentlyUsed<Value> {
  /** What was used longest ago comes first. */
  private readonly kept: ValuesByName<Entry<Value>>;
  private weight = 0;

  constructor(
    private readonly capacity: Capacity,
    newMap = plainMap,
  ) {
    this.kept = newMap();
  }

  /** Reads a value, which counts as a use of it. */
  get(name: string): Value | undefined {
    const known = this.kept.get(name);
    if (known === undefined) return undefined;
    this.kept.delete(name);
    this.kept.set(name, known);
    return known.value;
  }

  /** A value that weighs more than a quarter of the capacity is not kept, because it would displace too many others. */
  set(name: string, value: Value, weight: number): void {
    this.delete(name);
    if (weight > this.capacity.weight / 4) return;
    this.kept.set(name, { value, weight });
    this.weight += weight;
    if (this.isOver(1)) this.makeRoom();
  }

  delete(name: string): void {
    const known = this.kept.get(name);
    if (known === undefined) return;
    this.kept.delete(name);
    this.weight -= known.weight;
  }

  /** Makes room for many values at once, so that a full cache need not do it for each value that comes. */
  private makeRoom(): void {
    for (const name of this.kept.keys()) {
      if (!this.isOver(KEPT_SHARE)) return;
      this.delete(name);
    }
  }

  private isOver(share: number): boolean {
    const { entries, weight } = this.capacity;
    return this.kept.size > share * entries || this.weight > share * weight;
  }
}
