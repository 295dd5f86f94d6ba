import { TransientMap } from './transient.js';

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

/**
 * A cache of values by name. It keeps the values that were used last: at most its capacity, and at least about half of
 * that. It has two generations: a used value moves into the young one, and when the young one holds half of the
 * capacity it replaces the old one. A single `Map` that moves each used value to its end would leave a hole at its
 * front each time, and finding the oldest value would have to step over all the holes.
 */
export class RecentlyUsed<Value> {
  private young = new TransientMap<Entry<Value>>();
  private old = new TransientMap<Entry<Value>>();
  private youngWeight = 0;

  constructor(private readonly capacity: Capacity) {}

  /** Reads a value, which counts as a use of it. */
  get(name: string): Value | undefined {
    const known = this.young.get(name);
    if (known !== undefined) return known.value;
    const aged = this.old.get(name);
    if (aged !== undefined) this.add(name, aged);
    return aged?.value;
  }

  /** A value that weighs more than a quarter of the capacity is not kept, because it would displace too many others. */
  set(name: string, value: Value, weight: number): void {
    if (weight <= this.capacity.weight / 4) this.add(name, { value, weight });
    else this.delete(name);
  }

  delete(name: string): void {
    const known = this.young.get(name);
    if (known !== undefined) {
      this.young.delete(name);
      this.youngWeight -= known.weight;
    }
    this.old.delete(name);
  }

  private add(name: string, entry: Entry<Value>): void {
    const { entries, weight } = this.capacity;
    if (this.young.size + 1 > entries / 2 || this.youngWeight + entry.weight > weight / 2) {
      this.old = this.young;
      this.young = new TransientMap();
      this.youngWeight = 0;
    }
    this.youngWeight += entry.weight - (this.young.get(name)?.weight ?? 0);
    // The old generation may have an entry of the same name. The new entry hides it, and it is dropped with its
    // generation.
    this.young.set(name, entry);
  }
}
