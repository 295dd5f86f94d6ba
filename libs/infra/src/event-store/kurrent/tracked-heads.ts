import { RecentlyUsed } from '#libs/domain/kernel';

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
 * asked for, so nothing falls between the answer and what is told: of both, the higher revision counts.
 */
export class TrackedHeads {
  private streams = new RecentlyUsed<TrackedHead>(CAPACITY);

  /** An event was told of. */
  see(stream: string, revision: number): void {
    this.streams.get(stream)?.raise(revision);
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
  }

  private watch(stream: string): TrackedHead {
    const known = this.streams.get(stream);
    if (known) return known;
    const head = new TrackedHead();
    this.streams.set(stream, head, 0);
    return head;
  }
}
