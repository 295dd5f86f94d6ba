import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError, idOf } from '#libs/domain/kernel';
import type { EdgeParts } from './edge-parts.js';
import { endAndLinger } from './edge-response.js';
import type { Exchange } from './exchange.js';
import { endInTurn } from './pipeline.js';

/** What Node's parser and timers report about a connection on which no request could be read. */
export interface ClientError extends Error {
  readonly code?: string;
}

/**
 * Answers a request that is not HTTP, too large in its headers or too slow. The answer comes in the envelope, with ids
 * and version like every answer, and over the raw socket because there is no response to write to. The connection ends
 * with it: where one request ended and the next began is no longer known (RFC 9112, section 11.2).
 */
export const answerMalformed = (edge: EdgeParts, error: ClientError | null, socket: Socket): void => {
  const exchange = edge.exchangeOn.get(socket) ?? null;
  const canBeTold = socket.writable && error?.code !== 'ECONNRESET';
  // A complete request gets its own answer first. The fault came behind it, and the client would take an answer about
  // the fault for the answer to that request.
  if (canBeTold && exchange?.request.complete === true) {
    endInTurn(socket, () => answerMalformed(edge, error, socket));
    return;
  }
  if (!canBeTold || exchange?.response.headersSent === true) {
    socket.destroy();
    return;
  }
  tell(edge, { error, socket, exchange });
};

/** Writes the answer, and the access line of what was not even a request. */
const tell = (
  edge: EdgeParts,
  { error, socket, exchange }: { error: ClientError | null; socket: Socket; exchange: Exchange | null },
): void => {
  const requestId = exchange?.requestId ?? idOf('req', edge.sources.randomness.bytes(16));
  const version = exchange?.apiVersion ?? edge.versions.latest;
  const answer = edge.answers.render(refusalOf(error), requestId, exchange?.route ?? null);
  const headers = {
    ...edge.headersFor(requestId, version),
    ...answer.headers,
    Date: new Date(edge.sources.clock.nowMs()).toUTCString(),
    'Content-Length': String(Buffer.byteLength(answer.body)),
    Connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  endAndLinger(
    socket,
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${head.join('')}\r\n${answer.body}`,
  );
  if (exchange) exchange.answeredPastResponse(answer.status);
  else {
    edge.accessLog.writeUnreadable({
      requestId,
      version,
      status: answer.status,
      answer: answer.body,
      ip: socket.remoteAddress ?? '',
    });
    edge.meter.requestBegan();
    edge.meter.requestEnded({ route: null, method: '', status: answer.status, durationMs: 0 });
  }
};

const refusalOf = (error: ClientError | null): DomainError => {
  switch (error?.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new DomainError('request_too_large', {
        status: 431,
        message: 'The request line and headers are larger than 16 KiB. Send fewer or shorter ones.',
      });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new DomainError('request_too_large', {
        message: 'The chunk extensions of the body are too large. Send it without.',
      });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new DomainError('timeout', {
        status: 408,
        message: 'The request did not arrive in time and was not served. Send it again, faster.',
      });
    default:
      return new DomainError('validation_failed', {
        message: 'This is not a valid HTTP/1.1 request. Check the client, and any proxy between it and the service.',
      });
  }
};
