import {
  FIRST_EVENT_SCHEMA,
  type DomainEvent,
  type EventEnvelope,
  type EventMetadata,
  type RecordedEvent,
} from '#libs/domain/kernel';
import type { EventReader } from '../projection.js';

/** A JSON string without escapes: no quote, backslash or control character is in it. */
const TEXT = /"[^"\\\u0000-\u001F]*"/.source;
const TEXT_OR_NULL = `(?:${TEXT}|null)`;
/** As most are written. What matches is JSON, and of the first schema; nothing else is claimed of it. */
const ORDINARY_METADATA = new RegExp(
  `^\\{"org":${TEXT_OR_NULL},"actor":\\{"type":${TEXT},"id":${TEXT_OR_NULL}\\},"request_id":${TEXT_OR_NULL},` +
    `"causation":${TEXT},"correlation":${TEXT},"schema":${FIRST_EVENT_SCHEMA},"at":${TEXT}` +
    `(?:,"source":\\{"stream":${TEXT},"revision":(?:0|[1-9][0-9]*),"event_id":${TEXT}\\})?\\}$`,
);

class EventReadOnce implements EventEnvelope {
  readonly event: DomainEvent;

  constructor(readonly recorded: RecordedEvent) {
    this.event = { type: recorded.type, data: JSON.parse(recorded.data) as object };
  }

  get metadata(): EventMetadata {
    return JSON.parse(this.recorded.metadata) as EventMetadata;
  }
}

/**
 * Events that one reader passes once: nothing is kept of them for others, and metadata is not parsed as long as nobody asks
 * for it. Judges them as any other reader does.
 */
export const READ_ONCE: EventReader = {
  decode: (recorded) => new EventReadOnce(recorded),
  schemaOf: (envelope) =>
    ORDINARY_METADATA.test(envelope.recorded.metadata) ? FIRST_EVENT_SCHEMA : envelope.metadata.schema,
};
