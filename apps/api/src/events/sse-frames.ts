import type { JsonObject } from '#libs/crypto';

/** Milliseconds after which a client that lost its stream comes again. */
const RETRY_MS = 3_000;

/** What a client is told first of all. */
export const RETRY = Buffer.from(`retry: ${RETRY_MS}\n\n`);

/**
 * Nobody hears it: it keeps the connection from looking dead.
 * @param cursor moves where a client comes back to past events that were none of its own (WHATWG HTML, 9.2.6: an id without
 *   data is kept, and no message); null where there were none
 */
export const pingFrame = (cursor: string | null): Buffer =>
  Buffer.from(`${cursor === null ? '' : `id: ${cursor}\n`}: ping\n\n`);

/**
 * One message of an event stream. JSON has no line break, so the data is one line whatever agents put into it; id and type
 * are words of our own.
 * @param cursor left out of what no client can come back to
 */
export const frameOf = (event: string, data: JsonObject, cursor: string | null = null): Buffer =>
  Buffer.from(`${cursor === null ? '' : `id: ${cursor}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

/** Why events may have been missed (rule EVENT-1). */
export type ResyncReason = 'cursor_expired' | 'other_instance' | 'bus_reconnected' | 'lagged';

export const resyncFrame = (reason: ResyncReason): Buffer => frameOf('resync', { object: 'resync', reason });
