import type { EventData, JSONType, RecordedEvent as KurrentEvent } from '@eventstore/db-client';
import { type NewEvent, type Position, recordedAt, type RecordedEvent } from '#libs/domain/kernel';

/**
 * The client parses JSON text and serializes it again, so only text that this leaves unchanged can be stored as JSON.
 * All text that the service writes is such text, and people can read it in the server's own tools. Any other text is
 * stored as bytes that are not JSON: U+0000, which no text of the service contains, followed by the text itself.
 */
const NO_JSON = '\0';

/** The event in the form that the client takes. */
export const eventDataOf = ({ id, type, data, metadata }: NewEvent): EventData => {
  const parsed = parsedExactly(data);
  const common = { id, type, metadata: bytesOf(parsedExactly(metadata) === null ? NO_JSON + metadata : metadata) };
  return parsed === null
    ? { ...common, contentType: 'application/octet-stream', data: bytesOf(NO_JSON + data) }
    : { ...common, contentType: 'application/json', data: parsed.value };
};

/** The event in the form of the port, with its text byte for byte as it was written. */
export const recordedEventOf = (event: KurrentEvent): RecordedEvent => {
  const { id, type, streamId, revision } = event;
  const written = { id, type, data: textOf(event.data), metadata: textOf(event.metadata) };
  return recordedAt(written, streamId, Number(revision), positionOf(event));
};

/**
 * The position of a record in the log. Its commit and prepare positions are equal, because no transaction spans
 * appends.
 */
export const positionOf = ({ position }: KurrentEvent): Position => {
  if (!position) throw new TypeError('a record came without its position');
  return position.commit;
};

/** Whether an event is the server's own: statistics, scavenges, metadata of streams. */
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

/**
 * The client takes a value for bytes only if its constructor is `Uint8Array` itself; it would serialize a Buffer as
 * JSON.
 */
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

const textOf = (stored: unknown): string => {
  if (!(stored instanceof Uint8Array)) return JSON.stringify(stored) ?? '';
  const text = Buffer.from(stored).toString('utf8');
  return text.startsWith(NO_JSON) ? text.slice(NO_JSON.length) : text;
};
