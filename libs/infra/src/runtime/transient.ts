import type { NewMap } from '#libs/domain/kernel';

/** Holds a value until it is removed. */
interface Place<Value> {
  value: Value | null;
}

/**
 * A map for values that come and go with every call. When a `Map` outgrows its table, V8 links the old table to the new
 * one. Once the garbage collector has promoted an outgrown table to the old generation, that link keeps alive every
 * value in any later table, deleted or not, until the next full mark, and each scavenge copies all of those values.
 * Here the tables hold a small place for each value, which is emptied when the value is deleted. The keys stay alive as
 * in a `Map`, so they must be short texts.
 */
export class TransientMap<Value> {
  private readonly places = new Map<string, Place<Value>>();

  get size(): number {
    return this.places.size;
  }

  get(key: string): Value | undefined {
    return this.places.get(key)?.value ?? undefined;
  }

  /** Setting a key that is already present keeps its place in the order. */
  set(key: string, value: Value): void {
    const place = this.places.get(key);
    if (place) place.value = value;
    else this.places.set(key, { value });
  }

  delete(key: string): void {
    const place = this.places.get(key);
    if (!place) return;
    place.value = null;
    this.places.delete(key);
  }

  /** In the order of insertion. */
  keys(): IterableIterator<string> {
    return this.places.keys();
  }

  /** The present values, in the order of insertion. */
  values(): readonly Value[] {
    return presentIn(this.places.values());
  }
}

/** For what the domain keeps by name while a call is under way. */
export const newTransientMap: NewMap = <Value>() => new TransientMap<Value>();

/**
 * A set for values that come and go with every call, for the same reason as {@link TransientMap}. The same value may be
 * added twice.
 */
export class TransientSet<Value> {
  private readonly places = new Set<Place<Value>>();

  get size(): number {
    return this.places.size;
  }

  /** @returns a function that removes the value; a second call of it does nothing */
  add(value: Value): () => void {
    const place: Place<Value> = { value };
    this.places.add(place);
    return () => {
      place.value = null;
      this.places.delete(place);
    };
  }

  /** The present values, in the order of insertion. */
  values(): readonly Value[] {
    return presentIn(this.places);
  }

  /**
   * Visits the values that are present at the call, in the order of insertion; a value that is removed meanwhile is
   * skipped.
   */
  forEach(visit: (value: Value) => void): void {
    for (const place of [...this.places]) if (place.value !== null) visit(place.value);
  }
}

const presentIn = <Value>(places: Iterable<Place<Value>>): readonly Value[] =>
  [...places].flatMap(({ value }) => (value === null ? [] : [value]));
