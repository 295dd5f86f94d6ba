import { sha256Hex } from '#libs/crypto';
import { DamagedEvent } from './broken-stream.js';
import type { NewEvent, Position, RecordedEvent } from './event-store.port.js';
import type { Actor } from './command.js';
import { parseTimestamp } from './timestamp.js';

/** Raised when the meaning of an event's data changes; upcasters bring older ones up (docs/add-an-event.md). */
export const EVENT_SCHEMA_VERSION = 1;

/** The log holds an event that this build does not know, or not in that form. Going on would judge by half a state. */
export class UnknownEventType extends Error {
  override readonly name = 'UnknownEventType';
  /** @param schema the schema of the event where that is newer; null where its type is */
  constructor(stream: string, type: string, schema: number | null = null) {
    const what = schema === null ? `type ${type}` : `type ${type} in schema ${schema}`;
    super(`${stream} holds an event of ${what}, which this version does not know; run the newer version`);
  }
}

/** Stands beside every event. Snake case: these bytes are read by auditors and by other languages. */
export interface EventMetadata {
  /** Null only for what belongs to the whole deployment (seal keys, the store itself). */
  readonly org: string | null;
  readonly actor: Actor;
  readonly request_id: string | null;
  /** The command that caused the event: a retried command is recognised by it. */
  readonly causation: string;
  /** What the whole chain of commands is about: an action id, a request id. */
  readonly correlation: string;
  readonly schema: number;
  /** Our own time, RFC 3339: stores cut or reset theirs. */
  readonly at: string;
  /** On a `DeedSealed` alone: the event it seals. The ledger is thereby the sealer's checkpoint. */
  readonly source?: EventPlace;
}

/** How one event names another. Positions change when a log moves to another store; this does not. */
export interface EventPlace {
  readonly stream: string;
  readonly revision: number;
  readonly event_id: string;
}

export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}

export interface EventEnvelope<Event extends DomainEvent = DomainEvent> {
  readonly event: Event;
  readonly metadata: EventMetadata;
  readonly recorded: RecordedEvent;
}

/** What an event says, before it is text and after. */
interface Content {
  readonly event: DomainEvent;
  readonly metadata: EventMetadata;
}

/** An event that this process encoded: it knows what it was made of. */
class EncodedEvent implements NewEvent {
  readonly #content: Content;

  constructor(
    readonly id: string,
    readonly type: string,
    readonly data: string,
    readonly metadata: string,
    content: Content,
  ) {
    this.#content = content;
  }

  static contentOf(event: NewEvent): Content | null {
    return #content in event ? event.#content : null;
  }
}

/**
 * One class for all who record, adapters included. Its objects have one shape, which is what keeps the readers of the
 * log fast: a spread of each caller's own makes shapes that V8 never gets used to. Several readers of one process
 * follow the log and share its events: each is parsed once, and never changed.
 */
class EventAtItsPlace implements RecordedEvent {
  #envelope: EventEnvelope | null = null;

  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;

  constructor(
    event: NewEvent,
    readonly stream: string,
    readonly revision: number,
    readonly position: Position,
  ) {
    this.id = event.id;
    this.type = event.type;
    this.data = event.data;
    this.metadata = event.metadata;
  }

  /** The content that is known already, or else the content that `contentOf` finds. */
  static envelopeOf(recorded: RecordedEvent, contentOf: (recorded: RecordedEvent) => Content): EventEnvelope {
    if (!(#envelope in recorded)) return { ...contentOf(recorded), recorded };
    if (recorded.#envelope === null) {
      const { event, metadata } = contentOf(recorded);
      recorded.#envelope = { event, metadata, recorded };
    }
    return recorded.#envelope;
  }
}

/** An event at its place. */
export const recordedAt = (event: NewEvent, stream: string, revision: number, position: Position): RecordedEvent =>
  new EventAtItsPlace(event, stream, revision, position);

/**
 * The events of one append at their places. An id is a UUID (version 8) over stream, revision and content: an append
 * repeated after an unclear failure carries the same ids, while another worker's claim of the same step does not (it
 * differs in content). All share their metadata: readers tell by it what was appended together (`beginOfAppend`).
 *
 * @param first revision of the first event
 */
export const encodeEvents = (
  events: readonly DomainEvent[],
  metadata: EventMetadata,
  stream: string,
  first: number,
): readonly NewEvent[] => {
  const meta = JSON.stringify(metadata);
  return events.map((event, index) => {
    const { type } = event;
    const data = JSON.stringify(event.data);
    const id = eventIdOf({ stream, revision: first + index, type, data, metadata: meta });
    return new EncodedEvent(id, type, data, meta, { event, metadata });
  });
};

/** For an event whose id follows from something else than its place and content. */
export const encodeEventAs = (id: string, event: DomainEvent, metadata: EventMetadata): NewEvent =>
  new EncodedEvent(id, event.type, JSON.stringify(event.data), JSON.stringify(metadata), { event, metadata });

/** Lengths keep the parts apart. */
export const eventIdOf = ({
  stream,
  revision,
  type,
  data,
  metadata,
}: Omit<RecordedEvent, 'id' | 'position'>): string => {
  const parts = [stream, String(revision), type, data, metadata];
  return uuidOfHash(sha256Hex(parts.map((part) => `${part.length}:${part}`).join('')));
};

const parsedContent = (recorded: RecordedEvent): Content => {
  const metadata = parsedObject(recorded.metadata, recorded) as EventMetadata;
  if (metadata.schema > EVENT_SCHEMA_VERSION) {
    throw new UnknownEventType(recorded.stream, recorded.type, metadata.schema);
  }
  return { event: { type: recorded.type, data: parsedObject(recorded.data, recorded) }, metadata };
};

const parsedObject = (text: string, recorded: RecordedEvent): object => {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) throw new DamagedEvent(recorded);
  return value;
};

/** Undefined for a text that is not JSON: the parser's own words would repeat a part of it. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Decodes what we wrote ourselves; its members are trusted.
 * @throws {UnknownEventType} a newer version wrote it in a schema of its own: nobody guesses what its members mean
 * @throws {DamagedEvent} it cannot have been written so
 */
export const decodeEvent = <Event extends DomainEvent = DomainEvent>(recorded: RecordedEvent): EventEnvelope<Event> =>
  EventAtItsPlace.envelopeOf(recorded, parsedContent) as EventEnvelope<Event>;

/**
 * What stands beside an event, member by member, as far as it is there. This works also for an event that this version
 * cannot read, and for one that is none of this service. It is for judging such events; everybody else decodes.
 */
export const metadataOf = ({ metadata }: RecordedEvent): Readonly<Record<keyof EventMetadata, unknown>> | null => {
  const value = parsed(metadata);
  return typeof value === 'object' && value !== null ? (value as Record<keyof EventMetadata, unknown>) : null;
};

/** When an event was recorded as it says itself, in Unix milliseconds; null where it does not say. */
export const toldTimeOf = (recorded: RecordedEvent): number | null => {
  const at = metadataOf(recorded)?.at;
  return typeof at === 'string' ? parseTimestamp(at) : null;
};

/**
 * An event at the place where its writer knows that it stands. What this process encoded itself is not parsed again:
 * `decodeEvent` answers with the very event that was written.
 */
export const recordedByWriter = (
  event: NewEvent,
  stream: string,
  revision: number,
  position: Position,
): RecordedEvent => {
  const recorded = recordedAt(event, stream, revision, position);
  const content = EncodedEvent.contentOf(event);
  if (content !== null) EventAtItsPlace.envelopeOf(recorded, () => content);
  return recorded;
};

/** RFC 9562, version 8: 122 bits of a SHA-256 given in hex. */
export const uuidOfHash = (hex: string): string => {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};
