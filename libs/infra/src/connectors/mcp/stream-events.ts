import { TextDecoder } from 'node:util';

import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { EgressFailure } from '#libs/infra/egress';

import { ANSWER_MAX_BYTES, type MessageRoom } from './large-messages.js';

/** What an event stream says: an event, or how long to wait before it is taken up again. */
export type StreamEvent =
  | { readonly kind: 'event'; readonly id: string | null; readonly data: string }
  | { readonly kind: 'retry'; readonly ms: number };

/**
 * The events of a stream (text/event-stream), each when it is whole, however the bytes were cut.
 * @throws {EgressFailure} too_large, where an event has no room; broken, where the bytes are no text
 */
export async function* streamEvents(
  pieces: AsyncIterable<Buffer>,
  room: MessageRoom,
): AsyncGenerator<StreamEvent, void> {
  let ready: StreamEvent[] = [];
  let isOver = false;
  const parser = createParser({
    maxBufferSize: ANSWER_MAX_BYTES,
    onEvent: ({ id, data }: EventSourceMessage) => ready.push({ kind: 'event', id: id ?? null, data }),
    onRetry: (ms) => ready.push({ kind: 'retry', ms }),
    onError: ({ type }) => {
      isOver ||= type === 'max-buffer-size-exceeded';
    },
  });
  const text = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (!room.fits(bytes)) throw new EgressFailure('too_large', true);
    parser.feed(decoded(text, piece));
    if (isOver) throw new EgressFailure('too_large', true);
    if (ready.length > 0) bytes = 0;
    yield* ready;
    ready = [];
  }
}

const decoded = (text: TextDecoder, piece: Buffer): string => {
  try {
    return text.decode(piece, { stream: true });
  } catch (error) {
    throw new EgressFailure('broken', true, { cause: error });
  }
};
