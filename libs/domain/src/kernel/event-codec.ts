import { type Salt, sha256Hex } from '#libs/crypto';
import { DamagedEvent } from './broken-stream.js';
import type { NewEvent, Position, RecordedEvent } from './event-store.port.js';
import type { Actor } from './command.js';
import { parseTimestamp } from './timestamp.js';

/**
 * The newest schema that this version knows. Increased when the meaning of an event's data changes; upcasters convert older
 * events (docs/add-an-event.md).
 */
export const EVENT_SCHEMA_VERSION = 2;

/** Of all events that a program of the first version understands whole. */
export const FIRST_EVENT_SCHEMA = 1;

/**
 * Of an append with a decision that a person's passkey signed. To a program that knows the first schema alone, the digest of
 * what was signed would be a member to pass over: it would seal a deed without it, and sweep up what it names.
 */
export const SIGNED_DECISION_SCHEMA = 2;

/**
 * The log holds an event whose type or schema this build does not know. A fold without that event would give a wrong
 * state.
 */
export class UnknownEventType extends Error {
  override readonly name = 'UnknownEventType';
  /** @param schema the schema of the event if that is too new; null if its type is unknown */
  constructor(stream: string, type: string, schema: number | null = null) {
    const what = schema === null ? `type ${type}` : `type ${type} in schema ${schema}`;
    super(`${stream} holds an event of ${what}, which this version does not know; run the newer version`);
  }
}

/**
 * Recorded beside every event. The members are in snake case because auditors and programs in other languages read
 * them.
 */
export interface EventMetadata {
  /** Null only for an event of the whole deployment (seal keys, the store itself). */
  readonly org: string | null;
  readonly actor: Actor;
  readonly request_id: string | null;
  /** The id of the command that caused the event: a retried command is recognised by it. */
  readonly causation: string;
  /** The id of the object that the chain of commands is about: an action id, a request id. */
  readonly correlation: string;
  readonly schema: number;
  /**
   * When this service recorded the event, RFC 3339. Stores round their own timestamps, or reset them when a log is
   * copied.
   */
  readonly at: string;
  /**
   * Only on a `DeedSealed`: the event that the deed seals. By these places the ledger itself is the sealer's
   * checkpoint.
   */
  readonly source?: EventPlace;
  /**
   * The root of the salts under which deeds commit to what stands in these events themselves: the data of an admin
   * deed, a reason, a message. It stays as long as they do. Absent in events of actions that say nothing of the kind,
   * and in those of versions that sealed plain digests.
   */
  readonly salt?: Salt;
}

/** How one event refers to another. Unlike a position, this stays the same when the log is copied to another store. */
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

/** The data and metadata of an event as objects: before they are encoded as text, or after they are parsed. */
interface Content {
  readonly event: DomainEvent;
  readonly metadata: EventMetadata;
}

/**
 * An event that this process encoded. It keeps the objects that its text was made from, so that they need not be parsed
 * again.
 */
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
 * The one class of recorded events, for the adapters too. Several readers in one process share these events, so each
 * event is parsed at most once and must never be changed.
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

  /** The parsed event. `contentOf` is called only if this event was not parsed before. */
  static envelopeOf(recorded: RecordedEvent, contentOf: (recorded: RecordedEvent) => Content): EventEnvelope {
    if (!(#envelope in recorded)) return { ...contentOf(recorded), recorded };
    if (recorded.#envelope === null) {
      const { event, metadata } = contentOf(recorded);
      recorded.#envelope = { event, metadata, recorded };
    }
    return recorded.#envelope;
  }
}

/** The event as recorded at this revision and position. */
export const recordedAt = (event: NewEvent, stream: string, revision: number, position: Position): RecordedEvent =>
  new EventAtItsPlace(event, stream, revision, position);

/**
 * The events of one append, encoded for the revisions from `first` on. An id is a UUID (version 8) over stream,
 * revision and content: an append repeated after an unclear failure carries the same ids, while another worker's claim
 * of the same step does not (it differs in content). All events of the append have the same metadata, by which readers
 * recognise what was appended together (`beginOfAppend`).
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

/** Encodes an event whose id is not derived from its place and content. */
export const encodeEventAs = (id: string, event: DomainEvent, metadata: EventMetadata): NewEvent =>
  new EncodedEvent(id, event.type, JSON.stringify(event.data), JSON.stringify(metadata), { event, metadata });

/** Each part is preceded by its length, so that different parts never join to the same text. */
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

/**
 * Undefined for a text that is not JSON. The parser's error is dropped because its message would quote a part of the
 * text.
 */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Decodes an event that this service wrote; its members are not checked.
 * @throws {UnknownEventType} when a newer version wrote it in a newer schema, whose members may mean something else
 * @throws {DamagedEvent} when its data or metadata is not a JSON object
 */
export const decodeEvent = <Event extends DomainEvent = DomainEvent>(recorded: RecordedEvent): EventEnvelope<Event> =>
  EventAtItsPlace.envelopeOf(recorded, parsedContent) as EventEnvelope<Event>;

/**
 * The metadata of an event, unchecked: any member may be missing. Null if it is not a JSON object. Unlike {@link
 * decodeEvent}, this also works for an event of a newer version and for one that this service did not write. Only for
 * code that has to judge such events.
 */
export const metadataOf = ({ metadata }: RecordedEvent): Readonly<Record<keyof EventMetadata, unknown>> | null => {
  const value = parsed(metadata);
  return typeof value === 'object' && value !== null ? (value as Record<keyof EventMetadata, unknown>) : null;
};

/**
 * When an event was recorded according to its own metadata, in Unix milliseconds; null if the metadata has no valid
 * time.
 */
export const claimedTimeOf = (recorded: RecordedEvent): number | null => {
  const at = metadataOf(recorded)?.at;
  return typeof at === 'string' ? parseTimestamp(at) : null;
};

/**
 * The event as recorded, for the process that appended it. If this process also encoded it, it is not parsed again:
 * `decodeEvent` returns the objects that were encoded.
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
