import {
  beginOfAppend,
  categoryOf,
  decodeEvent,
  EVENT_SCHEMA_VERSION,
  UnknownEventType,
  type EventEnvelope,
  type Position,
  type RecordedEvent,
} from '#libs/domain/kernel';
import type { IdentifiedRow, ProjectionIdentity, ProjectionName, RowFloor, RowType } from '#libs/infra/read-models';

/** A fold of the log into rows. What it writes depends on the events alone, never on how they are cut into batches. */
export interface Projection {
  readonly name: ProjectionName;
  /** Raised when the same events give other rows or when the shape of a row changes; the rows are then made anew. */
  readonly version: number;
  /** Stream categories it follows, each with all event types it knows there. Other categories are skipped. */
  readonly follows: Readonly<Record<string, Readonly<Record<string, true>>>>;
  /** Every table it writes, and no other projection. */
  readonly rowTypes: readonly RowType<object>[];
  /** Of the one table, if any, that keeps its newest rows alone. */
  readonly floor?: RowFloor;
  /** The channel of the bus on which its commits are announced, where somebody waits for its rows. */
  readonly bell?: string;
  /** Writes what the events change. Reads the rows it needs first: a batch may begin in the middle of a stream. */
  project(events: readonly EventEnvelope[], rows: ProjectedRows): Promise<void>;
}

/** The rows of a projection's tables, as its fold reads and changes them. */
export interface ProjectedRows {
  /** The rows of these ids; none that is missing is an error. */
  select<Row extends IdentifiedRow>(rowType: RowType<Row>, ids: Iterable<string>): Promise<readonly Row[]>;
  /** Inserts each row, or replaces the one with its primary key. A row appears at most once. */
  upsert<Row extends object>(rowType: RowType<Row>, rows: readonly Row[]): Promise<void>;
  remove(rowType: RowType<IdentifiedRow>, ids: readonly string[]): Promise<void>;
}

export const identityOf = ({ name, version, rowTypes, floor }: Projection, storeId: string): ProjectionIdentity => ({
  name,
  version,
  rowTypes,
  storeId,
  ...(floor && { floor }),
});

/**
 * An event this projection must not guess about: of an unknown type, of a newer schema, or not readable. The projection
 * stops before it, loudly (rule OPS-5); skipping it would make rows that no rebuild gives again.
 */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';
  constructor(
    readonly recorded: RecordedEvent,
    readonly reason: 'unknown_type' | 'newer_schema' | 'corrupt',
    cause?: unknown,
  ) {
    super(`${recorded.stream} holds at revision ${recorded.revision} an event that cannot be read: ${reason}.`, {
      cause,
    });
  }
}

export interface ReadableEvents {
  /** Those of the categories it follows, up to the first append that it cannot read to its end. */
  readonly events: readonly EventEnvelope[];
  /** Of the last event before the append that it cannot read, of whatever category; null when there is none. */
  readonly position: Position | null;
  readonly unreadable: UnreadableEvent | null;
}

/** What an event says. Both throw where it cannot be read. */
export interface EventReader {
  decode(recorded: RecordedEvent): EventEnvelope;
  schemaOf(envelope: EventEnvelope): number;
}

/** Every follower of a process reads the same events: what was parsed for one is there for the others. */
const SHARED_READER: EventReader = { decode: decodeEvent, schemaOf: ({ metadata }) => metadata.schema };

export const readableEvents = (
  projection: Projection,
  recorded: readonly RecordedEvent[],
  reader = SHARED_READER,
): ReadableEvents => {
  const events: EventEnvelope[] = [];
  let position: Position | null = null;
  for (const [index, event] of recorded.entries()) {
    const known = projection.follows[categoryOf(event.stream)];
    if (known) {
      const envelope = readEvent(event, known, reader);
      if (envelope instanceof UnreadableEvent) {
        return { ...upTo(recorded[beginOfAppend(recorded, index) - 1], events), unreadable: envelope };
      }
      events.push(envelope);
    }
    position = event.position;
  }
  return { events, position, unreadable: null };
};

const upTo = (last: RecordedEvent | undefined, events: readonly EventEnvelope[]) => {
  const position = last?.position ?? null;
  return { events: events.filter(({ recorded }) => position !== null && recorded.position <= position), position };
};

const readEvent = (
  recorded: RecordedEvent,
  known: Readonly<Record<string, true>>,
  reader: EventReader,
): EventEnvelope | UnreadableEvent => {
  if (!Object.hasOwn(known, recorded.type)) return new UnreadableEvent(recorded, 'unknown_type');
  try {
    const envelope = reader.decode(recorded);
    return reader.schemaOf(envelope) > EVENT_SCHEMA_VERSION ? new UnreadableEvent(recorded, 'newer_schema') : envelope;
  } catch (error) {
    return new UnreadableEvent(recorded, error instanceof UnknownEventType ? 'newer_schema' : 'corrupt', error);
  }
};

/**
 * The keys whose rows must be read before these events are folded: all that they touch, except those they begin with.
 * `keyOf` is null for an event that touches no row of this kind.
 */
export const keysToLoad = (
  events: readonly EventEnvelope[],
  keyOf: (envelope: EventEnvelope) => string | null,
  begins: (envelope: EventEnvelope) => boolean,
): ReadonlySet<string> => {
  const seen = new Set<string>();
  const toLoad = new Set<string>();
  for (const envelope of events) {
    const key = keyOf(envelope);
    if (key === null || seen.has(key)) continue;
    seen.add(key);
    if (!begins(envelope)) toLoad.add(key);
  }
  return toLoad;
};
