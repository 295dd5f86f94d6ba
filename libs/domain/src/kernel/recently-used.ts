import { TransientMap } from './transient.js';

/** What is kept at most. */
export interface Capacity {
  readonly entries: number;
  /** Of all of them together, in the unit of their weights. */
  readonly weight: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
}

/**
 * Values by name. Those that were used last are kept: at most a capacity, and some half of it at least. Two generations
 * take turns: what is used goes into the young one, and once that holds half of the capacity it takes the place of the
 * old one. A single map with every use put at its end would have a hole at its front each time, and finding the oldest
 * would step over all the holes.
 */
export class RecentlyUsed<Value> {
  private young = new TransientMap<Entry<Value>>();
  private old = new TransientMap<Entry<Value>>();
  private youngWeight = 0;

  constructor(private readonly capacity: Capacity) {}

  /** Counts as a use. */
  get(name: string): Value | undefined {
    const known = this.young.get(name);
    if (known !== undefined) return known.value;
    const aged = this.old.get(name);
    if (aged !== undefined) this.add(name, aged);
    return aged?.value;
  }

  /** A value that alone weighs more than a quarter of the capacity is not kept: it would drive out everybody else's. */
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
    // This entry hides the one that the old generation may hold under the same name, and that one leaves with its
    // generation.
    this.young.set(name, entry);
  }
}
