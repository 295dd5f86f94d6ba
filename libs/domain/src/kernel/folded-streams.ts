import { streamOf, type Fold } from './decider.js';
import { decodeEvent, UnknownEventType, type DomainEvent, type EventEnvelope } from './event-codec.js';
import { type EventStore, type ExpectedRevision, StoreUnavailable } from './event-store.port.js';
import { requireGapless } from './broken-stream.js';
import { RecentlyUsed, type Capacity } from './recently-used.js';

/** A stream and how to fold it. Made by {@link streamRef}. */
export interface StreamRef<State> {
  readonly stream: string;
  readonly eventTypes: Readonly<Record<string, true>>;
  initialState(): State;
  evolve(state: State, event: DomainEvent): State;
  /** Whether it need not be remembered ({@link Fold.isOver}). */
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
  /** Characters of the events it was folded from: at least what the state holds on to. */
  readonly weight: number;
  /** Command ids that already left events here: a retried command is recognised and answered from the state. */
  readonly causations: ReadonlySet<string>;
}

/** A stream that does not exist. */
export const unbegun = <State>(ref: StreamRef<State>): Folded<State> => ({
  stream: ref.stream,
  revision: 'no_stream',
  state: ref.initialState(),
  weight: 0,
  causations: new Set(),
});

type StatesOf<Refs> = {
  readonly [Key in keyof Refs]: Refs[Key] extends StreamRef<infer State> ? Folded<State> : never;
};

/** Weights are characters: a policy's state holds the source of each of its versions. */
const DEFAULT_CAPACITY: Capacity = { entries: 20_000, weight: 64 * 1024 * 1024 };

/** Of one stream: each costs a lookup in every question for it. */
const MAX_FOLLOWERS = 4;

const NOTHING_FOUND: ReadonlyMap<string, Folded<unknown>> = new Map();

/** The number of a question that was put to the store. It only serves to tell which questions came after others. */
export type QuestionNumber = number & { readonly [isQuestionNumber]: true };
declare const isQuestionNumber: unique symbol;

export interface LoadOptions {
  /**
   * A stream that a question after this one has covered is not asked for again. A stream that had to be asked for all
   * the same is from then on asked along whenever the first of these streams is. So the second question of a kind of
   * request is spared the next time. Default: all are asked for.
   */
  readonly since?: QuestionNumber | undefined;
}

/** What is remembered of a stream, and by which question it was last found to be so. */
interface Remembered {
  readonly folded: Folded<unknown>;
  readonly asked: number;
}

/**
 * What decisions read (rule GATE-2): states folded from streams, never from a projection. Each load asks the store for
 * the streams' current revisions and folds only what is new, so an answered Stop holds for every call that starts after
 * it, in every process.
 */
export class FoldedStreams {
  private readonly cache: RecentlyUsed<Remembered>;
  private questions = 0;
  /** Streams that were asked for after another one, by its name: the latest few. */
  private readonly followers: RecentlyUsed<ReadonlyMap<string, StreamRef<unknown>>>;

  constructor(
    private readonly store: EventStore,
    capacity = DEFAULT_CAPACITY,
  ) {
    this.cache = new RecentlyUsed(capacity);
    this.followers = new RecentlyUsed({ entries: capacity.entries, weight: Infinity });
  }

  /** Whether a decision may rest on what is only remembered, because the append can require it. */
  get canRequire(): boolean {
    return this.store.canRequire;
  }

  /** The last question so far. What is asked after it cannot miss what was answered before it. */
  get lastQuestion(): QuestionNumber {
    return this.questions as QuestionNumber;
  }

  async load<State>(ref: StreamRef<State>): Promise<Folded<State>> {
    const { only } = await this.loadAll({ only: ref });
    return only;
  }

  /**
   * All of them as of one question to the store. No question is put where {@link LoadOptions.since} spares each of
   * them.
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
   * The state as some earlier question found it, which may be long ago. It is only for work that asks again before it
   * matters. Asks now when nothing is remembered.
   */
  async remembered<State>(ref: StreamRef<State>): Promise<Folded<State>> {
    return this.known(ref) ?? this.load(ref);
  }

  /** As `remembered`, and nothing is asked; null when nothing is remembered. */
  known<State>(ref: StreamRef<State>): Folded<State> | null {
    return (this.cache.get(ref.stream)?.folded as Folded<State> | undefined) ?? null;
  }

  /** What this process just appended itself, so that the next load need not read it back. */
  advance<State>(from: Folded<State>, ref: StreamRef<State>, events: readonly EventEnvelope[]): Folded<State> {
    const next = foldOnto(from, ref, events);
    this.remember(ref, next, 0);
    return next;
  }

  /** Null where no question after `since` has covered the stream. */
  private knownSince(since: QuestionNumber | undefined, { stream }: StreamRef<unknown>): Folded<unknown> | null {
    const known = this.cache.get(stream);
    return since !== undefined && known !== undefined && known.asked > since ? known.folded : null;
  }

  /** What followed a stream is likely to follow it again. */
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
    // What is only asked along may fail to be read: that is for whoever wants it.
    await Promise.all([...refs.map(upTo), ...next.map((ref) => upTo(ref).catch(() => undefined))]);
    return found;
  }

  private async upTo<State>(ref: StreamRef<State>, head: number | undefined, question: number): Promise<Folded<State>> {
    const empty = unbegun(ref);
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

  /** @param question that found the stream so; 0 for none */
  private remember<State>(ref: StreamRef<State>, folded: Folded<State>, question: number): void {
    if (ref.isOver(folded.state)) return this.cache.delete(folded.stream);
    const known = this.cache.get(folded.stream);
    // Two questions may be answered out of turn: the later state holds for both.
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
 * An event of a newer version is refused whatever the state: a fold that has no state yet would pass over it, and with it
 * the beginning of a stream.
 * @throws {UnknownEventType}
 */
export const evolveStrictly = <State>(ref: StreamRef<State>, state: State, event: DomainEvent): State => {
  if (!Object.hasOwn(ref.eventTypes, event.type)) throw new UnknownEventType(ref.stream, event.type);
  return ref.evolve(state, event);
};
