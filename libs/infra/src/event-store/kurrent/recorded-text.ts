import type { EventData, JSONType, RecordedEvent as KurrentEvent } from '@eventstore/db-client';
import { type NewEvent, type Position, recordedAt, type RecordedEvent } from '#libs/domain/kernel';

/**
 * The client parses JSON and writes its own, so text survives it only where that is the same text, as everything that the
 * service writes is. Such text is stored as JSON, which people can read in the server's own tools; any other as bytes that
 * are no JSON: U+0000, which stands raw in no text of ours, before the text itself.
 */
const NO_JSON = '\0';

/** As the client takes it. */
export const eventDataOf = ({ id, type, data, metadata }: NewEvent): EventData => {
  const parsed = parsedExactly(data);
  const common = { id, type, metadata: bytesOf(parsedExactly(metadata) === null ? NO_JSON + metadata : metadata) };
  return parsed === null
    ? { ...common, contentType: 'application/octet-stream', data: bytesOf(NO_JSON + data) }
    : { ...common, contentType: 'application/json', data: parsed.value };
};

/** As the port gives it back, byte for byte what was written. */
export const recordedEventOf = (event: KurrentEvent): RecordedEvent => {
  const { id, type, streamId, revision } = event;
  const written = { id, type, data: textOf(event.data), metadata: textOf(event.metadata) };
  return recordedAt(written, streamId, Number(revision), positionOf(event));
};

/** The place of a record in the log. Its commit and prepare positions are one: no transaction spans appends. */
export const positionOf = ({ position }: KurrentEvent): Position => {
  if (!position) throw new TypeError('a record came without its position');
  return position.commit;
};

/** Of the server itself: statistics, scavenges, metadata of streams. */
export const isSystemEvent = ({ streamId, type }: Pick<KurrentEvent, 'streamId' | 'type'>): boolean =>
  streamId.startsWith('$') || type.startsWith('$');

const parsedExactly = (text: string): { readonly value: JSONType } | null => {
  try {
    const value = JSON.parse(text) as JSONType;
    return JSON.stringify(value) === text ? { value } : null;
  } catch {
    return null;
  }
};

/** The client takes bytes for bytes only where their constructor is this one: a Buffer would become JSON. */
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

const textOf = (stored: unknown): string => {
  if (!(stored instanceof Uint8Array)) return JSON.stringify(stored) ?? '';
  const text = Buffer.from(stored).toString('utf8');
  return text.startsWith(NO_JSON) ? text.slice(NO_JSON.length) : text;
};
