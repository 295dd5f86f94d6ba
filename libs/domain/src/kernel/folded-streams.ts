import { streamOf, type Fold } from './decider.js';
import { decodeEvent, type DomainEvent, type EventEnvelope } from './event-codec.js';
import { type EventStore, type ExpectedRevision, StoreUnavailable } from './event-store.port.js';

/** A stream and how to fold it. Made by {@link streamRef}. */
export interface StreamRef<State> {
  readonly stream: string;
  initialState(): State;
  evolve(state: State, event: DomainEvent): State;
}

export const streamRef = <State, Event extends DomainEvent>(
  fold: Fold<State, Event>,
  id: string,
): StreamRef<State> => ({
  stream: streamOf(fold.category, id),
  initialState: fold.initialState,
  evolve: fold.evolve,
});

/** A stream's state at one revision. */
export interface Folded<State> {
  readonly stream: string;
  readonly revision: ExpectedRevision;
  readonly state: State;
  /** Characters of the events it was folded from: at least what the state holds on to. */
  readonly weight: number;
  /** Command ids that already left events here: a retried command is recognised and answered from the state. */
  readonly causations: ReadonlySet<string>;
}

/** The log holds an event this build does not know. Going on would judge by half a state. */
export class UnknownEventType extends Error {
  override readonly name = 'UnknownEventType';
  constructor(stream: string, type: string) {
    super(`${stream} holds an event of type ${type}, which this version does not know; run the newer version`);
  }
}

type StatesOf<Refs> = {
  readonly [Key in keyof Refs]: Refs[Key] extends StreamRef<infer State> ? Folded<State> : never;
};

const DEFAULT_CAPACITY: FoldedCapacity = { streams: 20_000, weight: 64 * 1024 * 1024 };

const LARGEST_SHARE = 4;

/** What is remembered at most: whatever people put into their events, a process stays small. */
export interface FoldedCapacity {
  readonly streams: number;
  /** Of all of them together; a policy's state holds the source of each of its versions. */
  readonly weight: number;
}

/**
 * What decisions read (architecture, 'What a decision reads'): states folded from streams, never from a projection. Each
 * load asks the store for the streams' current revisions and folds only what is new, so an answered Stop holds for every
 * call that starts after it, in every process.
 */
export class FoldedStreams {
  private readonly cache = new Map<string, Folded<unknown>>();
  private weight = 0;

  constructor(
    private readonly store: EventStore,
    private readonly capacity = DEFAULT_CAPACITY,
  ) {}

  async load<State>(ref: StreamRef<State>): Promise<Folded<State>> {
    const { only } = await this.loadAll({ only: ref });
    return only;
  }

  /** All of them as of one question to the store. */
  async loadAll<Refs extends Readonly<Record<string, StreamRef<unknown>>>>(refs: Refs): Promise<StatesOf<Refs>> {
    const entries = Object.entries(refs);
    const heads = await this.store.heads(entries.map(([, ref]) => ref.stream));
    const folded = await Promise.all(
      entries.map(async ([name, ref]) => [name, await this.upTo(ref, heads.get(ref.stream))] as const),
    );
    return Object.fromEntries(folded) as StatesOf<Refs>;
  }

  /**
   * As some earlier question found it, which may be long ago: only for work that asks again before it matters. Asks now
   * when nothing is remembered.
   */
  async remembered<State>(ref: StreamRef<State>): Promise<Folded<State>> {
    return (this.cache.get(ref.stream) as Folded<State> | undefined) ?? this.load(ref);
  }

  /** What this process just appended itself, so that the next load need not read it back. */
  advance<State>(from: Folded<State>, ref: StreamRef<State>, events: readonly EventEnvelope[]): Folded<State> {
    const next = foldOnto(from, ref, events);
    this.remember(next);
    return next;
  }

  private async upTo<State>(ref: StreamRef<State>, head: number | undefined): Promise<Folded<State>> {
    const empty: Folded<State> = {
      stream: ref.stream,
      revision: 'no_stream',
      state: ref.initialState(),
      weight: 0,
      causations: new Set(),
    };
    if (head === undefined) return empty;
    const known = (this.cache.get(ref.stream) as Folded<State> | undefined) ?? empty;
    if (known.revision !== 'no_stream' && known.revision >= head) {
      this.remember(known);
      return known;
    }
    const from = known.revision === 'no_stream' ? 0 : known.revision + 1;
    const recorded = await this.store.readStream(ref.stream, {
      from,
      limit: head - from + 1,
      mayRemember: true,
    });
    const next = foldOnto(
      known,
      ref,
      recorded.map((event) => decodeEvent(event)),
    );
    if (next.revision === 'no_stream' || next.revision < head) {
      throw new StoreUnavailable(`${ref.stream} was read up to ${next.revision}, but stands at ${head}`);
    }
    this.remember(next);
    return next;
  }

  private remember(folded: Folded<unknown>): void {
    const known = this.cache.get(folded.stream);
    if (known && known.revision !== 'no_stream' && folded.revision !== 'no_stream' && known.revision > folded.revision)
      return;
    // Re-inserting keeps the map in order of use, so the first key is the one to drop.
    this.forget(known);
    // One alone must not drive out everybody else's.
    if (folded.weight > this.capacity.weight / LARGEST_SHARE) return;
    this.cache.set(folded.stream, folded);
    this.weight += folded.weight;
    for (const oldest of this.cache.values()) {
      if (this.cache.size <= this.capacity.streams && this.weight <= this.capacity.weight) return;
      this.forget(oldest);
    }
  }

  private forget(folded: Folded<unknown> | undefined): void {
    if (folded && this.cache.delete(folded.stream)) this.weight -= folded.weight;
  }
}

const foldOnto = <State>(
  base: Folded<State>,
  ref: StreamRef<State>,
  events: readonly EventEnvelope[],
): Folded<State> => {
  if (events.length === 0) return base;
  const causations = new Set(base.causations);
  let { state, weight } = base;
  for (const { event, metadata, recorded } of events) {
    state = evolveStrictly(ref, state, event);
    weight += recorded.data.length + recorded.metadata.length;
    causations.add(metadata.causation);
  }
  const last = events[events.length - 1] as EventEnvelope;
  return { stream: ref.stream, revision: last.recorded.revision, state, weight, causations };
};

/** `evolve` has no default case: an event of a newer version falls through it. */
export const evolveStrictly = <State>(ref: StreamRef<State>, state: State, event: DomainEvent): State => {
  const next = ref.evolve(state, event) as State | undefined;
  if (next === undefined) throw new UnknownEventType(ref.stream, event.type);
  return next;
};
