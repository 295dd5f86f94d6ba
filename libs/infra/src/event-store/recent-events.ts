import { type Position, type RecordedEvent, START, TransientMap } from '#libs/domain/kernel';

/** Whether nothing of the log lies between two positions, the second of which was brought after the first. */
export type IsNext = (end: Position, position: Position) => boolean;

/** Of a log whose positions have no gaps. */
export const isNextOfGapless: IsNext = (end, position) => position === end + 1n;

/** Of events that come in the order of their log, none left out, whatever their positions are. */
export const isNextInOrder: IsNext = (end, position) => position > end;

const MAX_EVENTS = 4_096;
const MAX_CHARACTERS = 8_388_608;
/**
 * Kept of what every reader has passed, what was brought by the last so many times, within these numbers of events: what
 * was just written is read once more by whoever answers for it, and so is the beginning of a call whose tool takes a
 * moment. A log may bring its events one by one.
 */
const PASSED_ADDS = 16;
const PASSED_EVENTS = { least: 128, most: 512 } as const;

/** Follows the log in this process. */
export interface LogReader {
  /** Of the last event that it is done with. */
  readonly position: Position;
}

const NOBODY: ReadonlySet<LogReader> = new Set();

/**
 * The end of the log as far as this process has seen it: what it appended itself and what it read, one run of events
 * without a hole. Events never change, so what stands here need not be asked of the database; what does not stand here
 * says nothing. It is for those who are about to read it: an event that outlives them outlives the young generation of the
 * heap too, and costs the collector, and with it the slowest calls, several times what it was to make.
 */
export class RecentEvents {
  /** Null for events of its front that were dropped: they are cut off now and then. */
  private run: (RecordedEvent | null)[] = [];
  private dropped = 0;
  /** How many events each of the last few times has brought. */
  private readonly lastAdded: number[] = [];
  private characters = 0;
  /** In a run without a hole the events of a stream follow each other, too. */
  private streams = new TransientMap<RecordedEvent[]>();
  /** Nothing of the log lies between this position and the run. */
  private anchor: Position = START;

  /** @param readers who are on their way through the log */
  constructor(
    private readonly isNext: IsNext,
    private readonly readers: ReadonlySet<LogReader> = NOBODY,
  ) {}

  /** @param events consecutive, in order of position */
  add(events: readonly RecordedEvent[]): void {
    if (events.length > 0) this.noteAdded(events.length);
    for (const event of events) {
      const { end } = this;
      if (end !== null && event.position <= end) continue;
      // Others appended in between: a run with a hole could not be followed.
      if (end !== null && !this.isNext(end, event.position)) this.clear();
      this.push(event);
    }
    this.trim();
  }

  /** Events after a position, exclusive; empty when the next one is not known here. */
  after(position: Position, limit: number): readonly RecordedEvent[] {
    if (this.run.length === 0 || position < this.anchor) return [];
    const begin = this.firstAfter(position);
    return this.run.slice(begin, begin + limit) as RecordedEvent[];
  }

  /** All events after a position, exclusive, up to the end of the run; null where not all of them are known here. */
  since(position: Position): readonly RecordedEvent[] | null {
    if (this.run.length === 0 || position < this.anchor) return null;
    return this.run.slice(this.firstAfter(position)) as RecordedEvent[];
  }

  /** Where the run ends; null where nothing is known. */
  get end(): Position | null {
    return this.run.at(-1)?.position ?? null;
  }

  /** The events of a stream from a revision on, in order; null unless all of them are known here. */
  ofStream(stream: string, from: number, count: number): readonly RecordedEvent[] | null {
    const known = this.streams.get(stream);
    const first = known?.[0]?.revision;
    if (known === undefined || first === undefined || from < first || from + count > first + known.length) return null;
    return known.slice(from - first, from - first + count);
  }

  /** The last revisions of those streams that are known here. */
  headsOf(streams: readonly string[]): ReadonlyMap<string, number> {
    const seen = streams.map((stream) => [stream, this.lastOf(stream)] as const);
    return new Map(seen.filter((entry): entry is [string, number] => entry[1] !== null));
  }

  /** The last revision of a stream that is known here; null where none is. */
  lastOf(stream: string): number | null {
    return this.streams.get(stream)?.at(-1)?.revision ?? null;
  }

  /** What comes from now on does not follow what was brought so far. */
  clear(): void {
    this.run = [];
    this.dropped = 0;
    this.characters = 0;
    this.streams = new TransientMap();
  }

  private firstAfter(position: Position): number {
    let [low, high] = [this.dropped, this.run.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.run[middle] as RecordedEvent).position > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private push(event: RecordedEvent): void {
    if (this.run.length === 0) this.anchor = event.position - 1n;
    this.run.push(event);
    this.characters += size(event);
    const known = this.streams.get(event.stream);
    if (known) known.push(event);
    else this.streams.set(event.stream, [event]);
  }

  private trim(): void {
    const passed = this.passedByAll();
    const kept = this.keptOfPassed();
    while (this.isTooMuch() || this.isPassed(passed, kept)) this.dropFirst();
    if (this.dropped <= PASSED_EVENTS.most) return;
    this.run = this.run.slice(this.dropped);
    this.dropped = 0;
  }

  private isTooMuch(): boolean {
    return this.run.length - this.dropped > MAX_EVENTS || this.characters > MAX_CHARACTERS;
  }

  private isPassed(passed: Position | null, kept: number): boolean {
    if (this.run.length - this.dropped <= kept) return false;
    return passed === null || (this.run[this.dropped] as RecordedEvent).position <= passed;
  }

  private noteAdded(count: number): void {
    this.lastAdded.push(count);
    if (this.lastAdded.length > PASSED_ADDS) this.lastAdded.shift();
  }

  private keptOfPassed(): number {
    const brought = this.lastAdded.reduce((sum, count) => sum + count, 0);
    return Math.max(PASSED_EVENTS.least, Math.min(PASSED_EVENTS.most, brought));
  }

  /** Up to where nobody reads any more; null where nobody reads at all. */
  private passedByAll(): Position | null {
    let slowest: Position | null = null;
    for (const { position } of this.readers) if (slowest === null || position < slowest) slowest = position;
    return slowest;
  }

  private dropFirst(): void {
    const event = this.run[this.dropped] as RecordedEvent;
    this.run[this.dropped] = null;
    this.dropped += 1;
    this.anchor = event.position;
    this.characters -= size(event);
    const known = this.streams.get(event.stream);
    known?.shift();
    if (known?.length === 0) this.streams.delete(event.stream);
  }
}

const size = ({ data, metadata }: RecordedEvent): number => data.length + metadata.length;
