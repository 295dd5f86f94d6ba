import { APPEND_LIMIT_BYTES, beginOfAppend, RecentlyUsed, type RecordedEvent } from '#libs/domain/kernel';

/** Some megabytes of names; a stream that is not among them costs a question. */
const CAPACITY = { entries: 40_000, weight: Infinity };
const MISSING = -1;

/** Where a stream stands: its last revision, or null where it is not there. */
export type StreamHead = number | null;

class TrackedHead {
  /** The last revision that is known, {@link MISSING} where the stream is not there. */
  revision = MISSING;
  /** Whether the server has said once where the stream stands; before, there is only what was told since. */
  isComplete = false;

  /** @param answer of the server, to a question that was put after the watching began */
  complete(answer: StreamHead): void {
    this.raise(answer ?? MISSING);
    this.isComplete = true;
  }

  /** Whoever is late changes nothing. */
  raise(revision: number): void {
    if (revision > this.revision) this.revision = revision;
  }
}

/**
 * Where streams stand, as of the last event that the server has told of by itself. A stream is watched from before it is
 * asked for, so nothing falls between the answer and what is told: of both, the higher revision counts. Events are told one
 * by one, and no stream stands between two of one append: the last of them count when they are known to be all.
 */
export class TrackedHeads {
  private streams = new RecentlyUsed<TrackedHead>(CAPACITY);
  /** Of one append, as far as it was told; what follows may belong to it. */
  private told: RecordedEvent[] = [];
  private toldCharacters = 0;

  /** An event was told of, the next in the order of the log. */
  see(event: RecordedEvent): void {
    const last = this.told.at(-1);
    // What is larger than an append is none.
    const isContinued = last !== undefined && beginOfAppend([last, event], 1) === 0;
    if (!isContinued || this.toldCharacters > APPEND_LIMIT_BYTES) this.settle();
    this.told.push(event);
    this.toldCharacters += event.data.length + event.metadata.length;
  }

  /** The first that was told of an append that may go on, where nothing else has said that its stream stands beyond it. */
  get unsettled(): RecordedEvent | null {
    const [first, last] = [this.told[0], this.told.at(-1)];
    if (first === undefined || last === undefined) return null;
    return (this.streams.get(first.stream)?.revision ?? MISSING) < last.revision ? first : null;
  }

  /** @param events of a stream, read forwards: their end is that of an append */
  read(events: readonly RecordedEvent[]): void {
    const last = events.at(-1);
    if (last) this.streams.get(last.stream)?.raise(last.revision);
  }

  /**
   * Resolves when the streams are known, and only then: where they stand is said by the function that it gives, at the
   * moment at which that is called. A stream that was let go of in between is null there: ask again.
   *
   * @param ask the server where a stream stands
   */
  async learn(
    streams: readonly string[],
    ask: (stream: string) => Promise<StreamHead>,
  ): Promise<(stream: string) => { readonly head: StreamHead } | null> {
    const heads = new Map<string, TrackedHead>();
    await Promise.all(
      streams.map(async (stream) => {
        const head = this.watch(stream);
        heads.set(stream, head);
        if (!head.isComplete) head.complete(await ask(stream));
      }),
    );
    return (stream) => {
      const head = heads.get(stream);
      if (head === undefined || this.streams.get(stream) !== head) return null;
      return { head: head.revision === MISSING ? null : head.revision };
    };
  }

  /**
   * Begins to watch a stream that is about to be written to; returns how to say where it stood when that was done. Not to be
   * said of an append that may have been answered from what the log held before.
   */
  writing(stream: string): (revision: number) => void {
    const head = this.watch(stream);
    return (revision) => head.complete(revision);
  }

  /** What is told from now on does not follow what was told so far. */
  clear(): void {
    this.streams = new RecentlyUsed<TrackedHead>(CAPACITY);
    this.told = [];
    this.toldCharacters = 0;
  }

  /** What was told is whole: something else follows. */
  private settle(): void {
    this.read(this.told);
    this.told = [];
    this.toldCharacters = 0;
  }

  private watch(stream: string): TrackedHead {
    const known = this.streams.get(stream);
    if (known) return known;
    const head = new TrackedHead();
    this.streams.set(stream, head, 0);
    return head;
  }
}
