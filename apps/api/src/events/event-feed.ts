import type { JsonObject } from '#libs/crypto';
import { streamedEventObject, type PublicEvent } from '#libs/domain/events';
import type { EventFilter, EventVariant } from './event-filter.js';
import { frameOf } from './sse-frames.js';

/** What a client can come back to (rule EVENT-1). */
const KEPT_EVENTS = 1_024;
export const KEPT_MS = 300_000;

/** A row of the public events as this process read it. */
export type ReadEvent = PublicEvent & { readonly seq: string };

/** An event on its way to streams, written once for all who see the same of it. */
export class FedEvent {
  readonly seq: bigint;
  private readonly frames = new Map<EventVariant, Buffer>();

  /** @param object the shape of its list; null where it is told with its thin object */
  constructor(
    readonly event: ReadEvent,
    private readonly object: JsonObject | null,
    private readonly instance: string,
  ) {
    this.seq = BigInt(event.seq);
  }

  /** Where a client comes back to, to hear what is behind this event. */
  get cursor(): string {
    return `${this.instance}.${this.event.seq}`;
  }

  frameFor(variant: EventVariant): Buffer {
    const known = this.frames.get(variant);
    if (known) return known;
    const frame = frameOf(this.event.type, this.objectFor(variant), this.cursor);
    this.frames.set(variant, frame);
    return frame;
  }

  private objectFor(variant: EventVariant): JsonObject {
    const { event, object } = this;
    // A deed's summary is the same here and there.
    if (event.type === 'deed.sealed') return streamedEventObject(event, event.thin, true);
    const isHidden = variant === 'agent' && !isInListsOfAgents(event);
    return object === null || isHidden
      ? streamedEventObject(event, event.thin, false)
      : streamedEventObject(event, object, true);
  }
}

/** Of what an agent's key may see on a stream, approvals have no list that it could read. */
const isInListsOfAgents = ({ type }: PublicEvent): boolean => type.startsWith('action.');

/** Whether somebody who looks in this variant gets more of an event than its thin object. */
const isHydratedFor = (event: PublicEvent, variant: EventVariant): boolean =>
  /^(?:action|approval|agent)\./.test(event.type) && (variant === 'organization' || isInListsOfAgents(event));

/**
 * Whether a credential of the organization may have ended by it. Every change of keys, members and Stops seals an admin deed, also
 * one that another process made and nobody rang for, such as a command of an operator.
 */
const mayEndCredentials = ({ type, thin }: PublicEvent): boolean =>
  type === 'deed.sealed' ? thin['kind'] === 'admin' : type.startsWith('agent.') || type.startsWith('org.');

/** Who is told of a feed's events. */
export interface FeedReader {
  readonly filter: EventFilter;
  offer(event: FedEvent): void;
  /** An event that it does not show. */
  passOver(event: FedEvent): void;
  /** Something has changed by which its credential may have ended. */
  doubt(): void;
  /** Events may have been missed. */
  resync(): void;
}

/** The events of one organization, from the moment on in which this process began to read them. */
export class EventFeed {
  private readonly readers = new Set<FeedReader>();
  private kept: { readonly event: FedEvent; readonly atMs: number }[] = [];

  /** @param complete of what lies behind it nothing is missing here */
  constructor(
    private complete: bigint,
    private leftAtMs: number,
  ) {}

  /** Nobody has listened for so long that nobody can come back to it. */
  isForgotten(nowMs: number): boolean {
    return this.readers.size === 0 && nowMs - this.leftAtMs > KEPT_MS;
  }

  keep(nowMs: number): void {
    this.leftAtMs = nowMs;
  }

  /** @returns called when it listens no more, with the time */
  join(reader: FeedReader): (nowMs: number) => void {
    this.readers.add(reader);
    return (nowMs) => {
      this.readers.delete(reader);
      this.leftAtMs = nowMs;
    };
  }

  /** Whether this event belongs to the feed at all: what was before its begin is not told. */
  awaits({ seq }: ReadEvent): boolean {
    return BigInt(seq) > this.last;
  }

  /** Whether anybody listens who gets more of it than its thin object. */
  isHydrated(event: ReadEvent): boolean {
    for (const { filter } of this.readers) {
      if (isHydratedFor(event, filter.variant) && filter.shows(event)) return true;
    }
    return false;
  }

  /** In order. */
  push(event: FedEvent, nowMs: number): void {
    this.kept.push({ event, atMs: nowMs });
    this.forget(nowMs);
    const isOfAccess = mayEndCredentials(event.event);
    for (const reader of this.readers) {
      if (reader.filter.shows(event.event)) reader.offer(event);
      else reader.passOver(event);
      if (isOfAccess) reader.doubt();
    }
  }

  /** All behind a cursor, oldest first; null where some of it is gone, or the cursor was never given out. */
  behind(seq: bigint, nowMs: number): readonly FedEvent[] | null {
    this.forget(nowMs);
    if (seq < this.complete || seq > this.last) return null;
    return this.kept.flatMap(({ event }) => (event.seq > seq ? [event] : []));
  }

  /** Nothing is known of what was before `complete`: everybody is told to read anew. */
  beginAnew(complete: bigint): void {
    this.complete = complete;
    this.kept = [];
    for (const reader of this.readers) reader.resync();
  }

  /** The place of the last event that it was told. */
  get last(): bigint {
    return this.kept.at(-1)?.event.seq ?? this.complete;
  }

  private forget(nowMs: number): void {
    const old = this.kept.findIndex(({ atMs }) => nowMs - atMs <= KEPT_MS);
    const count = Math.max(old < 0 ? this.kept.length : old, this.kept.length - KEPT_EVENTS);
    if (count === 0) return;
    this.complete = this.kept[count - 1]?.event.seq ?? this.complete;
    this.kept = this.kept.slice(count);
  }
}
