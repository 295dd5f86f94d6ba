import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';

import { headersOf } from './answer-headers.js';
import { EgressFailure } from './egress-failure.js';
import {
  createRequest,
  type EgressResponse,
  firstAnswer,
  type OutgoingRequest,
  saysItsEnd,
  sendAll,
} from './exchange.js';
import { decoderOf } from './response-body.js';

/** An answer whose head has come. Its connection is closed when its pieces were read, or by `close`. */
export interface EgressStream extends Pick<EgressResponse, 'status' | 'headers' | 'isDecoded'> {
  /**
   * The decoded body, in pieces of any size, once. Ending the iteration early closes the connection.
   * @throws {EgressFailure} timeout, broken, too_large
   */
  readonly pieces: AsyncIterable<Buffer>;
  close(): void;
}

/**
 * One request on a connected, checked socket, and its answer as it comes.
 * @throws {EgressFailure} timeout, broken; the socket is then destroyed. The request counts as sent from the moment its
 * first byte is handed to the socket.
 */
export const streamedExchange = async (
  socket: Socket,
  request: Omit<OutgoingRequest, 'keptResponseBytes'>,
): Promise<EgressStream> => {
  const { signal } = request;
  if (signal.aborted) {
    socket.destroy();
    throw new EgressFailure('timeout', false);
  }
  const outgoing = createRequest(socket, request, false);
  const stop = () => outgoing.destroy(new EgressFailure('timeout', true));
  const end = () => {
    signal.removeEventListener('abort', stop);
    outgoing.destroy();
    socket.destroy();
  };
  signal.addEventListener('abort', stop);
  try {
    const [incoming] = await Promise.all([firstAnswer(outgoing), sendAll(outgoing, request.body)]);
    // Nobody may be reading yet when the connection ends.
    incoming.on('error', () => undefined);
    const { body, isDecoded } = decodedBody(incoming);
    return {
      status: incoming.statusCode ?? 0,
      headers: headersOf(incoming),
      isDecoded,
      pieces: piecesOf({ outgoing, incoming, body, end }, request),
      close: end,
    };
  } catch (error) {
    end();
    throw failureOf(error, request, null);
  }
};

interface Answer {
  readonly outgoing: ClientRequest;
  readonly incoming: IncomingMessage;
  readonly body: Readable;
  readonly end: () => void;
}

async function* piecesOf(
  { incoming, body, end }: Answer,
  request: Pick<OutgoingRequest, 'maxResponseBytes' | 'signal'>,
): AsyncGenerator<Buffer, void> {
  const status = incoming.statusCode ?? 0;
  let length = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      length += piece.byteLength;
      if (length > request.maxResponseBytes) throw new EgressFailure('too_large', true, { status });
      yield piece;
    }
    // A body without a length ends with its connection, also where it was ended here.
    if (request.signal.aborted && !saysItsEnd(incoming)) throw new EgressFailure('timeout', true, { status });
  } catch (error) {
    throw failureOf(error, request, status);
  } finally {
    end();
  }
}

const decodedBody = (incoming: IncomingMessage): { readonly body: Readable; readonly isDecoded: boolean } => {
  const decoder = decoderOf(incoming);
  if (typeof decoder === 'string') return { body: incoming, isDecoded: decoder === 'none' };
  // Whoever reads the decoder hears of what goes wrong before it.
  pipeline(incoming, decoder, () => undefined);
  return { body: decoder, isDecoded: true };
};

const failureOf = (
  error: unknown,
  { signal }: Pick<OutgoingRequest, 'signal'>,
  status: number | null,
): EgressFailure => {
  const known = status === null ? {} : { status };
  if (error instanceof EgressFailure && error.reason !== 'timeout') return error;
  if (signal.aborted) return new EgressFailure('timeout', true, { cause: error, ...known });
  return error instanceof EgressFailure ? error : new EgressFailure('broken', true, { cause: error, ...known });
};
