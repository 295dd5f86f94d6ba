import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import {
  canonicalize,
  decodeBase64url,
  encodeBase64url,
  EncodingError,
  type JsonObject,
  type JsonValue,
} from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import type { Exchange } from './exchange.js';
import type { ListQuery } from './query-shape.js';

const MAX_CURSOR_CHARACTERS = 2_048;
const MAC_BYTES = 16;
const KEY_BYTES = 32;
const KEY_INFO = 'service/cursor/v1';

/** Where a page ended: the sort key of its last row. Written by the list that reads it back. */
export type ListPosition = JsonValue;

/** The cursors of one list, as one caller asked for it. */
export interface ListCursors {
  /** Where the page that was asked for begins, exclusive; null for the first page. */
  readonly after: ListPosition | null;
  /** The `next_cursor` of a page that ends here. */
  next(position: ListPosition): string;
}

/**
 * Opaque cursors: base64url over a MAC and a position. The MAC covers the route, the filters, the organization and the
 * caller. None of them is in the cursor, so a cursor that was issued for anything else is as good as forged.
 */
export class CursorCodec {
  private readonly key: Uint8Array;

  /** @param pepper the deployment's secret, from which the key is derived (HKDF-SHA256) */
  constructor(pepper: Uint8Array) {
    this.key = new Uint8Array(hkdfSync('sha256', pepper, new Uint8Array(), KEY_INFO, KEY_BYTES));
  }

  /** @throws {DomainError} validation_failed with `param: cursor` for a cursor that this service did not issue for this question */
  forList(exchange: Exchange, query: ListQuery): ListCursors {
    const binding = bindingOf(exchange, query);
    return {
      after: query.cursor === undefined ? null : this.open(query.cursor, binding),
      next: (position) => this.seal(position, binding),
    };
  }

  private seal(position: ListPosition, binding: string): string {
    const payload = new TextEncoder().encode(JSON.stringify(position));
    return encodeBase64url(Buffer.concat([this.mac(payload, binding), payload]));
  }

  private open(cursor: string, binding: string): ListPosition {
    const bytes = decodeCursor(cursor);
    if (bytes === null || bytes.byteLength <= MAC_BYTES) throw notIssued();
    const payload = bytes.subarray(MAC_BYTES);
    // The MAC comes before the parser: nothing that we did not write is ever read.
    if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.mac(payload, binding))) throw notIssued();
    return JSON.parse(new TextDecoder().decode(payload)) as ListPosition;
  }

  private mac(payload: Uint8Array, binding: string): Uint8Array {
    return createHmac('sha256', this.key)
      .update(`${binding.length}:${binding}`)
      .update(payload)
      .digest()
      .subarray(0, MAC_BYTES);
  }
}

const bindingOf = (exchange: Exchange, query: ListQuery): string => {
  const filters: JsonObject = {};
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'limit' && name !== 'cursor' && value !== undefined) filters[name] = value as JsonValue;
  }
  const { org } = exchange.caller;
  return canonicalize([exchange.route?.template ?? '', org, exchange.principalRef, filters]);
};

const decodeCursor = (cursor: string): Uint8Array | null => {
  if (cursor.length > MAX_CURSOR_CHARACTERS) return null;
  try {
    return decodeBase64url(cursor, MAX_CURSOR_CHARACTERS);
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
};

const notIssued = (): DomainError =>
  new DomainError('validation_failed', {
    param: 'cursor',
    message: 'This cursor was not issued for this list with these filters. Start again without a cursor.',
  });
