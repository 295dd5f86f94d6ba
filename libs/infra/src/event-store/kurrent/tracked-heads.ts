import { APPEND_LIMIT_BYTES, beginOfAppend, RecentlyUsed, type RecordedEvent } from '#libs/domain/kernel';

/** Some megabytes of stream names. A stream that is not tracked costs a question to the server. */
const CAPACITY = { entries: 40_000, weight: Infinity };
const MISSING = -1;

/** The last revision of a stream; null if it does not exist. */
export type StreamHead = number | null;

class TrackedHead {
  /** The last revision that is known; {@link MISSING} if the stream does not exist or none is known yet. */
  revision = MISSING;
  /**
   * Whether the server has once answered where the stream stands. Before that, only events sent since the watching
   * began are known.
   */
  isComplete = false;

  /** @param answer the server's answer to a question that was put after the watching began */
  complete(answer: StreamHead): void {
    this.raise(answer ?? MISSING);
    this.isComplete = true;
  }

  /** A lower revision, which comes late, changes nothing. */
  raise(revision: number): void {
    if (revision > this.revision) this.revision = revision;
  }
}

/**
 * Where streams stand, as of the last event that the server has sent by itself. A stream is watched from before the
 * server is asked for its head, so no event is missed between that answer and the events sent: the higher revision of
 * the two counts. Events are sent one by one, but a head must not lie within an append. So the events of the last
 * append count only once they are known to be all of it.
 */
export class TrackedHeads {
  private streams = new RecentlyUsed<TrackedHead>(CAPACITY);
  /** The events sent so far of the last append; the next event may belong to it. */
  private told: RecordedEvent[] = [];
  private toldCharacters = 0;

  /** Takes the next event that the server has sent, in the order of the log. */
  see(event: RecordedEvent): void {
    const last = this.told.at(-1);
    // Events that are more than one append can hold are not one append.
    const isContinued = last !== undefined && beginOfAppend([last, event], 1) === 0;
    if (!isContinued || this.toldCharacters > APPEND_LIMIT_BYTES) this.settle();
    this.told.push(event);
    this.toldCharacters += event.data.length + event.metadata.length;
  }

  /**
   * The first event of the last append, if that append may be incomplete and nothing else has shown that its stream
   * holds these events; else null.
   */
  get unsettled(): RecordedEvent | null {
    const [first, last] = [this.told[0], this.told.at(-1)];
    if (first === undefined || last === undefined) return null;
    return (this.streams.get(first.stream)?.revision ?? MISSING) < last.revision ? first : null;
  }

  /** @param events of one stream; the last of them must be the end of an append, as it is after a read forwards */
  read(events: readonly RecordedEvent[]): void {
    const last = events.at(-1);
    if (last) this.streams.get(last.stream)?.raise(last.revision);
  }

  /**
   * Resolves when it is known where the streams stand. The returned function says it for a stream as of the moment of
   * its call. It returns null if the stream has been dropped from the cache: then the server must be asked again.
   *
   * @param ask asks the server where a stream stands
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
   * Begins to watch a stream before an append to it. The returned function takes the revision that the append has
   * reached. It must not be called if the append may be a repetition, because the answer then may be an old one.
   */
  writing(stream: string): (revision: number) => void {
    const head = this.watch(stream);
    return (revision) => head.complete(revision);
  }

  /** Forgets everything, because the events to come do not continue those sent before. */
  clear(): void {
    this.streams = new RecentlyUsed<TrackedHead>(CAPACITY);
    this.told = [];
    this.toldCharacters = 0;
  }

  /** Counts the events of the last append, because another append follows and so they are all of it. */
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
