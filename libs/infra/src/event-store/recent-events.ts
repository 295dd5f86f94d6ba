import { type Position, type RecordedEvent, START } from '#libs/domain/kernel';
import { TransientMap } from '../runtime/index.js';

/** Whether no event lies between two positions, the second of which was delivered right after the first. */
export type IsNext = (end: Position, position: Position) => boolean;

/** For a log whose positions have no gaps. */
export const isNextOfGapless: IsNext = (end, position) => position === end + 1n;

/** For events that are delivered in the order of their log with none left out, whatever their positions are. */
export const isNextInOrder: IsNext = (end, position) => position > end;

const MAX_EVENTS = 4_096;
const MAX_CHARACTERS = 8_388_608;
/**
 * How many events are kept although every reader has passed them: those of the last `PASSED_ADDS` calls of `add`, but
 * within the limits of `PASSED_EVENTS`, because a log may deliver its events one by one. They are read once more by the
 * request that answers for them, which may take as long as the tool of its call.
 */
const PASSED_ADDS = 16;
const PASSED_EVENTS = { least: 128, most: 512 } as const;

/** A reader that follows the log in this process. */
export interface LogReader {
  /** The position of the last event that the reader has processed. */
  readonly position: Position;
}

const NOBODY: ReadonlySet<LogReader> = new Set();

/**
 * The end of the log as far as this process has seen it: the events that it appended and read, as one run without a
 * hole. Events never change, so those in the run need not be read from the store; an event that is not in the run may
 * exist all the same. Only events that somebody is about to read are kept. An event that is kept longer moves to the
 * old generation of the heap, which costs the garbage collector, and with it the slowest calls, several times what
 * making the event did.
 */
export class RecentEvents {
  /** The events in order of position. Dropped events at the front are null, and are cut off now and then. */
  private run: (RecordedEvent | null)[] = [];
  private dropped = 0;
  /** How many events each of the last few calls of `add` had. */
  private readonly lastAdded: number[] = [];
  private characters = 0;
  /** The events of the run by stream. Because the run has no hole, the events of a stream are consecutive, too. */
  private streams = new TransientMap<RecordedEvent[]>();
  /** No event lies between this position and the run. */
  private anchor: Position = START;

  /** @param readers the readers that follow the log in this process */
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
      // Other processes appended in between, and nobody could follow a run with a hole.
      if (end !== null && !this.isNext(end, event.position)) this.clear();
      this.push(event);
    }
    this.trim();
  }

  /** Events after a position, exclusive; empty if the next one is not in the run. */
  after(position: Position, limit: number): readonly RecordedEvent[] {
    if (this.run.length === 0 || position < this.anchor) return [];
    const begin = this.firstAfter(position);
    return this.run.slice(begin, begin + limit) as RecordedEvent[];
  }

  /** All events after a position, exclusive, up to the end of the run; null if not all of them are in the run. */
  since(position: Position): readonly RecordedEvent[] | null {
    if (this.run.length === 0 || position < this.anchor) return null;
    return this.run.slice(this.firstAfter(position)) as RecordedEvent[];
  }

  /** The position of the last event of the run; null if the run is empty. */
  get end(): Position | null {
    return this.run.at(-1)?.position ?? null;
  }

  /** The `count` events of a stream from a revision on, in order; null unless all of them are in the run. */
  ofStream(stream: string, from: number, count: number): readonly RecordedEvent[] | null {
    const known = this.streams.get(stream);
    const first = known?.[0]?.revision;
    if (known === undefined || first === undefined || from < first || from + count > first + known.length) return null;
    return known.slice(from - first, from - first + count);
  }

  /** The last revision in the run of each of these streams; a stream without events in the run is absent. */
  headsOf(streams: readonly string[]): ReadonlyMap<string, number> {
    const seen = streams.map((stream) => [stream, this.lastOf(stream)] as const);
    return new Map(seen.filter((entry): entry is [string, number] => entry[1] !== null));
  }

  /** The last revision of a stream in the run; null if the run has none of its events. */
  lastOf(stream: string): number | null {
    return this.streams.get(stream)?.at(-1)?.revision ?? null;
  }

  /** Forgets the run, because the events to come do not continue it. */
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

  /** The position that every reader has passed; null if there is no reader. */
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
