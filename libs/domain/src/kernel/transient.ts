/** Where a value stands until it goes. */
interface Place<Value> {
  value: Value | null;
}

/**
 * A map of what comes and goes with every call. V8 links each table that a `Map` has outgrown to the one after it. A
 * table that the collector has taken for old therefore keeps alive whatever stood in any later one, gone or not, until
 * the next full mark, and every scavenge copies the whole of every call since. Here the tables hold places, and a place
 * is empty once its value has gone. Keys stay as they would in a `Map`: short texts only.
 */
export class TransientMap<Value> {
  private readonly places = new Map<string, Place<Value>>();

  get size(): number {
    return this.places.size;
  }

  get(key: string): Value | undefined {
    return this.places.get(key)?.value ?? undefined;
  }

  /** Whoever is there already keeps its place in the order. */
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

  /** Who came first comes first. */
  keys(): IterableIterator<string> {
    return this.places.keys();
  }

  /** Of those who are there now, in order. */
  values(): readonly Value[] {
    return presentIn(this.places.values());
  }
}

/** A set of what comes and goes with every call, for the reason of {@link TransientMap}. The same value may come twice. */
export class TransientSet<Value> {
  private readonly places = new Set<Place<Value>>();

  get size(): number {
    return this.places.size;
  }

  /** @returns how to leave; leaving twice is leaving once */
  add(value: Value): () => void {
    const place: Place<Value> = { value };
    this.places.add(place);
    return () => {
      place.value = null;
      this.places.delete(place);
    };
  }

  /** Of those who are there now, in order. */
  values(): readonly Value[] {
    return presentIn(this.places);
  }

  /** Of those who are there now, in order; who leaves meanwhile is passed over. */
  forEach(visit: (value: Value) => void): void {
    for (const place of [...this.places]) if (place.value !== null) visit(place.value);
  }
}

const presentIn = <Value>(places: Iterable<Place<Value>>): readonly Value[] =>
  [...places].flatMap(({ value }) => (value === null ? [] : [value]));
