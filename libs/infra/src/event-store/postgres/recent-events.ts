import type { Position, RecordedEvent } from '#libs/domain/kernel';

const MAX_EVENTS = 4_096;
const MAX_CHARACTERS = 8_388_608;

/**
 * The end of the log as far as this process has seen it: what it appended itself and what it read, one run of positions
 * without a hole. Events never change, so what stands here need not be asked of the database; what does not stand here
 * says nothing.
 */
export class RecentEvents {
  private run: RecordedEvent[] = [];
  /** Events of the run's front that were dropped; they are cut off now and then. */
  private dropped = 0;
  private characters = 0;
  private readonly streams = new Map<string, Map<number, RecordedEvent>>();
  private readonly lasts = new Map<string, number>();

  /** @param events consecutive, in order of position */
  add(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      const end = this.run.at(-1)?.position;
      if (end !== undefined && event.position <= end) continue;
      // Others appended in between: a run with a hole could not be followed.
      if (end !== undefined && event.position !== end + 1n) this.clear();
      this.push(event);
    }
    this.trim();
  }

  /** Events after a position, exclusive; empty when the next one is not known here. */
  after(position: Position, limit: number): readonly RecordedEvent[] {
    const first = this.run[this.dropped]?.position;
    if (first === undefined || position + 1n < first) return [];
    const begin = this.dropped + Number(position + 1n - first);
    return this.run.slice(begin, begin + limit);
  }

  /** The events of a stream from a revision on, in order; null unless all of them are known here. */
  ofStream(stream: string, from: number, count: number): readonly RecordedEvent[] | null {
    const known = this.streams.get(stream);
    if (!known || known.size < count) return null;
    const events: RecordedEvent[] = [];
    for (let revision = from; revision < from + count; revision += 1) {
      const event = known.get(revision);
      if (!event) return null;
      events.push(event);
    }
    return events;
  }

  /** The last revision of a stream that is known here; null where none is. */
  lastOf(stream: string): number | null {
    return this.lasts.get(stream) ?? null;
  }

  private push(event: RecordedEvent): void {
    this.run.push(event);
    this.characters += size(event);
    const known = this.streams.get(event.stream);
    if (known) known.set(event.revision, event);
    else this.streams.set(event.stream, new Map([[event.revision, event]]));
    this.lasts.set(event.stream, event.revision);
  }

  private trim(): void {
    while (this.run.length - this.dropped > MAX_EVENTS || this.characters > MAX_CHARACTERS) this.dropFirst();
    if (this.dropped <= MAX_EVENTS) return;
    this.run = this.run.slice(this.dropped);
    this.dropped = 0;
  }

  private dropFirst(): void {
    const event = this.run[this.dropped] as RecordedEvent;
    this.dropped += 1;
    this.characters -= size(event);
    const known = this.streams.get(event.stream);
    known?.delete(event.revision);
    if (known?.size !== 0) return;
    this.streams.delete(event.stream);
    this.lasts.delete(event.stream);
  }

  private clear(): void {
    this.run = [];
    this.dropped = 0;
    this.characters = 0;
    this.streams.clear();
    this.lasts.clear();
  }
}

const size = ({ data, metadata }: RecordedEvent): number => data.length + metadata.length;
