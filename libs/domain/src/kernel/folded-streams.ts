import { streamOf, type Fold } from './decider.js';
import { decodeEvent, UnknownEventType, type DomainEvent, type EventEnvelope } from './event-codec.js';
import { type EventStore, type ExpectedRevision, StoreUnavailable } from './event-store.port.js';
import { requireGapless } from './broken-stream.js';
import { RecentlyUsed, type Capacity } from './recently-used.js';
import { plainMap } from './values-by-name.js';

/** A stream and how to fold it. Made by {@link streamRef}. */
export interface StreamRef<State> {
  readonly stream: string;
  readonly eventTypes: Readonly<Record<string, true>>;
  initialState(): State;
  evolve(state: State, event: DomainEvent): State;
  /** Whether the state need not be cached ({@link Fold.isOver}). */
  isOver(state: State): boolean;
}

export const streamRef = <State, Event extends DomainEvent>(
  fold: Fold<State, Event>,
  id: string,
): StreamRef<State> => ({
  stream: streamOf(fold.category, id),
  eventTypes: fold.eventTypes,
  initialState: fold.initialState,
  evolve: fold.evolve,
  isOver: fold.isOver ?? never,
});

const never = (): boolean => false;

/** A stream's state at one revision. */
export interface Folded<State> {
  readonly stream: string;
  readonly revision: ExpectedRevision;
  readonly state: State;
  /** The number of characters of the folded events, as a measure of the memory that the state takes. */
  readonly weight: number;
  /** The command ids of the folded events: a retried command is recognised by them and answered from the state. */
  readonly causations: ReadonlySet<string>;
}

/** The folded state of a stream that does not exist. */
export const missingStream = <State>(ref: StreamRef<State>): Folded<State> => ({
  stream: ref.stream,
  revision: 'no_stream',
  state: ref.initialState(),
  weight: 0,
  causations: new Set(),
});

type StatesOf<Refs> = {
  readonly [Key in keyof Refs]: Refs[Key] extends StreamRef<infer State> ? Folded<State> : never;
};

/**
 * The weight is in characters, because states differ in size: a policy's state holds the source of each of its
 * versions.
 */
const DEFAULT_CAPACITY: Capacity = { entries: 20_000, weight: 64 * 1024 * 1024 };

/** The most followers of one stream. Each follower adds a lookup whenever the store is asked about that stream. */
const MAX_FOLLOWERS = 4;

const NOTHING_FOUND: ReadonlyMap<string, Folded<unknown>> = new Map();

/** The number of one question to the store for stream revisions. It only serves to tell which questions came later. */
export type QuestionNumber = number & { readonly [isQuestionNumber]: true };
declare const isQuestionNumber: unique symbol;

export interface LoadOptions {
  /**
   * If given, a stream that a later question than this one has covered is answered from the cache. A stream that has to
   * be asked for nevertheless becomes a follower of the first of these streams: from then on it is asked along with
   * that one, so that the next request of this kind needs no second question. Default: all streams are asked for.
   */
  readonly since?: QuestionNumber | undefined;
}

/**
 * The states that a decision may assume without asking the store, because the commit that records the decision requires
 * that their streams have not moved ({@link CompoundAppends}). {@link FoldedStreams} is one, for a log that is written
 * in transactions with such requirements; {@link NOTHING_ASSUMED} is for any other.
 */
export interface AssumableStates {
  /** Null: nothing may be assumed, and the store must be asked. */
  known<State>(ref: StreamRef<State>): Folded<State> | null;
}

export const NOTHING_ASSUMED: AssumableStates = { known: () => null };

/** A cached state, and the latest question that found it current. */
interface Remembered {
  readonly folded: Folded<unknown>;
  readonly asked: number;
}

/**
 * The states that decisions read (rule GATE-2), folded from streams and never from a projection. Each load asks the
 * store for the streams' current revisions and folds only new events. So an answered Stop holds for every call that
 * starts after it, in every process.
 */
export class FoldedStreams implements AssumableStates {
  private readonly cache: RecentlyUsed<Remembered>;
  private questions = 0;
  /** By the name of a stream, the last few streams that were asked for after it (see {@link LoadOptions.since}). */
  private readonly followers: RecentlyUsed<ReadonlyMap<string, StreamRef<unknown>>>;

  constructor(
    private readonly store: EventStore,
    capacity = DEFAULT_CAPACITY,
    newMap = plainMap,
  ) {
    this.cache = new RecentlyUsed(capacity, newMap);
    this.followers = new RecentlyUsed({ entries: capacity.entries, weight: Infinity }, newMap);
  }

  /** The latest question so far. Any later question sees every append that was answered before this moment. */
  get lastQuestion(): QuestionNumber {
    return this.questions as QuestionNumber;
  }

  async load<State>(ref: StreamRef<State>): Promise<Folded<State>> {
    const { only } = await this.loadAll({ only: ref });
    return only;
  }

  /**
   * The states of all these streams, by one question to the store. No question is needed if {@link LoadOptions.since}
   * covers each of them.
   */
  async loadAll<Refs extends Readonly<Record<string, StreamRef<unknown>>>>(
    refs: Refs,
    { since }: LoadOptions = {},
  ): Promise<StatesOf<Refs>> {
    const wanted = Object.entries(refs).map(([name, ref]) => ({ name, ref, known: this.knownSince(since, ref) }));
    const due = wanted.flatMap(({ ref, known }) => (known === null ? [ref] : []));
    const found = await this.ask(due);
    if (since !== undefined) this.learn(wanted[0]?.ref, due);
    const folded = wanted.map(({ name, ref, known }) => [name, known ?? found.get(ref.stream)]);
    return Object.fromEntries(folded) as StatesOf<Refs>;
  }

  /**
   * The cached state, which may be long out of date. It is only for work that asks the store again before the state
   * matters. Loads the stream if nothing is cached.
   */
  async remembered<State>(ref: StreamRef<State>): Promise<Folded<State>> {
    return this.known(ref) ?? this.load(ref);
  }

  /** The cached state, without ever asking the store; null if nothing is cached. */
  known<State>(ref: StreamRef<State>): Folded<State> | null {
    return (this.cache.get(ref.stream)?.folded as Folded<State> | undefined) ?? null;
  }

  /**
   * Folds events that this process has just appended onto a state and caches the result, so that the next load need not
   * read them.
   */
  advance<State>(from: Folded<State>, ref: StreamRef<State>, events: readonly EventEnvelope[]): Folded<State> {
    const next = foldOnto(from, ref, events);
    this.remember(ref, next, 0);
    return next;
  }

  /** The cached state if a question after `since` has covered the stream, else null. */
  private knownSince(since: QuestionNumber | undefined, { stream }: StreamRef<unknown>): Folded<unknown> | null {
    const known = this.cache.get(stream);
    return since !== undefined && known !== undefined && known.asked > since ? known.folded : null;
  }

  /**
   * Makes the streams in `due` followers of `leader`, because the next request of this kind will probably need them
   * again.
   */
  private learn(leader: StreamRef<unknown> | undefined, due: readonly StreamRef<unknown>[]): void {
    if (leader === undefined) return;
    const next = due.filter(({ stream }) => stream !== leader.stream && this.cache.get(stream) !== undefined);
    if (next.length === 0) return;
    const latest = [...(this.followers.get(leader.stream)?.values() ?? []), ...next].slice(-MAX_FOLLOWERS);
    this.followers.set(leader.stream, new Map(latest.map((ref) => [ref.stream, ref])), 0);
  }

  private async ask(refs: readonly StreamRef<unknown>[]): Promise<ReadonlyMap<string, Folded<unknown>>> {
    if (refs.length === 0) return NOTHING_FOUND;
    const asked = new Set(refs.map(({ stream }) => stream));
    const next = refs
      .flatMap(({ stream }) => [...(this.followers.get(stream)?.values() ?? [])])
      .filter(({ stream }) => !asked.has(stream) && this.cache.get(stream) !== undefined);
    const question = (this.questions += 1);
    const heads = await this.store.heads([...refs, ...next].map(({ stream }) => stream));
    const found = new Map<string, Folded<unknown>>();
    const upTo = async (ref: StreamRef<unknown>): Promise<void> => {
      found.set(ref.stream, await this.upTo(ref, heads.get(ref.stream), question));
    };
    // A follower that cannot be read is ignored here: the error is for a caller that needs that stream.
    await Promise.all([...refs.map(upTo), ...next.map((ref) => upTo(ref).catch(() => undefined))]);
    return found;
  }

  private async upTo<State>(ref: StreamRef<State>, head: number | undefined, question: number): Promise<Folded<State>> {
    const empty = missingStream(ref);
    if (head === undefined) return empty;
    const known = (this.cache.get(ref.stream)?.folded as Folded<State> | undefined) ?? empty;
    if (known.revision !== 'no_stream' && known.revision >= head) {
      this.remember(ref, known, question);
      return known;
    }
    const from = known.revision === 'no_stream' ? 0 : known.revision + 1;
    const recorded = await this.store.readStream(ref.stream, {
      from,
      limit: head - from + 1,
      mayRemember: true,
    });
    requireGapless(recorded, from);
    const next = foldOnto(
      known,
      ref,
      recorded.map((event) => decodeEvent(event)),
    );
    if (next.revision === 'no_stream' || next.revision < head) {
      throw new StoreUnavailable(`${ref.stream} was read up to ${next.revision}, but stands at ${head}`);
    }
    this.remember(ref, next, question);
    return next;
  }

  /** @param question the question that found this state current; 0 if none did */
  private remember<State>(ref: StreamRef<State>, folded: Folded<State>, question: number): void {
    if (ref.isOver(folded.state)) return this.cache.delete(folded.stream);
    const known = this.cache.get(folded.stream);
    // Answers may arrive out of order, so the state with the higher revision is kept, with the number of the later
    // question.
    const latest = known && isBeyond(known.folded, folded) ? known.folded : folded;
    const asked = Math.max(known?.asked ?? 0, question);
    this.cache.set(latest.stream, { folded: latest, asked }, latest.weight);
  }
}

const isBeyond = (a: Folded<unknown>, b: Folded<unknown>): boolean =>
  a.revision !== 'no_stream' && b.revision !== 'no_stream' && a.revision > b.revision;

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

/**
 * Refuses an event of a newer version in every state. Without this check, `evolve` would ignore such an event while the
 * state is still initial, and so would miss the beginning of a stream.
 * @throws {UnknownEventType} when the fold does not handle events of this type
 */
export const evolveStrictly = <State>(ref: StreamRef<State>, state: State, event: DomainEvent): State => {
  if (!Object.hasOwn(ref.eventTypes, event.type)) throw new UnknownEventType(ref.stream, event.type);
  return ref.evolve(state, event);
};
