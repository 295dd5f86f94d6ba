import { sha256Hex } from '#libs/crypto';
import type { NewEvent, RecordedEvent } from './event-store.port.js';
import type { Actor } from './command.js';

/** Raised when the meaning of an event's data changes; upcasters bring older ones up (docs/add-an-event.md). */
export const EVENT_SCHEMA_VERSION = 1;

/** The log holds an event that this build does not know, or not in that form. Going on would judge by half a state. */
export class UnknownEventType extends Error {
  override readonly name = 'UnknownEventType';
  /** @param schema where it is that of the event which is newer, rather than its type */
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

/**
 * The event at its place. The id is a UUID (version 8) over stream, revision and content: an append repeated after an
 * unclear failure carries the same ids, while another worker's claim of the same step does not (it differs in content).
 */
export const encodeEvent = (
  event: DomainEvent,
  metadata: EventMetadata,
  stream: string,
  revision: number,
): NewEvent => {
  const data = JSON.stringify(event.data);
  const meta = JSON.stringify(metadata);
  const { type } = event;
  return { id: eventIdOf({ stream, revision, type, data, metadata: meta }), type, data, metadata: meta };
};

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

/** Several readers of one process follow the log and share its events: each is parsed once, and never changed. */
const decoded = new WeakMap<RecordedEvent, EventEnvelope>();

/**
 * What we wrote ourselves: the log is trusted to be JSON.
 * @throws {UnknownEventType} a newer version wrote it in a schema of its own: nobody guesses what its members mean
 */
export const decodeEvent = <Event extends DomainEvent = DomainEvent>(recorded: RecordedEvent): EventEnvelope<Event> => {
  const known = decoded.get(recorded);
  if (known) return known as EventEnvelope<Event>;
  const metadata = JSON.parse(recorded.metadata) as EventMetadata;
  if (metadata.schema > EVENT_SCHEMA_VERSION) {
    throw new UnknownEventType(recorded.stream, recorded.type, metadata.schema);
  }
  const envelope = { event: { type: recorded.type, data: JSON.parse(recorded.data) as object }, metadata, recorded };
  decoded.set(recorded, envelope);
  return envelope as EventEnvelope<Event>;
};

/** RFC 9562, version 8: 122 bits of a SHA-256 given in hex. */
export const uuidOfHash = (hex: string): string => {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};
