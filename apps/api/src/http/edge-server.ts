import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { TransientSet } from '#libs/infra/runtime';
import { API_VERSION_HEADER } from './api-versions.js';
import { STATUS_ABORTED } from './access-log.js';
import { EdgeRequest } from './edge-request.js';
import { EdgeResponse, isLingering } from './edge-response.js';
import { Exchange, rememberExchange } from './exchange.js';
import type { EdgeParts } from './edge-parts.js';
import { answerMalformed } from './malformed-requests.js';
import { serveInTurn } from './pipeline.js';

export interface HttpTimeouts {
  /** From the connection, or the answer before, to the last header. */
  readonly headersTimeoutMs: number;
  /** From there to the last byte of the body. */
  readonly requestTimeoutMs: number;
  /** An idle connection that waits for its next request. Longer than a proxy's own, so that the proxy closes first. */
  readonly keepAliveTimeoutMs: number;
  /** Nothing read and nothing written: a reader that has stopped, at the latest. */
  readonly idleTimeoutMs: number;
}

export const DEFAULT_TIMEOUTS: HttpTimeouts = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 72_000,
  idleTimeoutMs: 120_000,
};

/** Request line and headers together; more is 431. */
const MAX_HEADER_BYTES = 16_384;
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;

/**
 * The HTTP server under Fastify. It makes the exchange before anything else looks at a request, so that ids, headers and
 * the access line exist for every answer, whichever layer gives it.
 */
export const createEdgeServer = (edge: EdgeParts, handler: RequestListener, timeouts: HttpTimeouts): Server => {
  const server = createServer({
    IncomingMessage: EdgeRequest,
    ServerResponse: EdgeResponse as never,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: timeouts.headersTimeoutMs,
    requestTimeout: timeouts.requestTimeoutMs,
    keepAliveTimeout: timeouts.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_INTERVAL_MS, timeouts.headersTimeoutMs),
    insecureHTTPParser: false,
    // Node would answer a missing Host without an envelope; the edge judges it (transport-checks.ts).
    requireHostHeader: false,
  });
  // Headers are bounded by their bytes instead: past Node's count they would silently be left out.
  server.maxHeadersCount = 0;
  server.timeout = timeouts.idleTimeoutMs;
  const serve = (request: IncomingMessage, response: EdgeResponse, awaitsContinue: boolean): void => {
    serveInTurn(request, response, () => {
      if (isLingering(request.socket)) {
        request.socket.destroy();
        return;
      }
      const exchange = begin(edge, request, response);
      exchange.awaitsContinue = awaitsContinue;
      handler(request, response);
    });
  };
  server.on('request', (request, response) => serve(request, response as EdgeResponse, false));
  server.on('checkContinue', (request, response) => serve(request, response as EdgeResponse, true));
  // Any other expectation is ignored, as RFC 9110, section 10.1.1 allows.
  server.on('checkExpectation', (request, response) => serve(request, response as EdgeResponse, false));
  server.on('connect', (_request, socket) => answerMalformed(edge, null, socket as Socket));
  // Without a listener it would end the process. Where nobody can listen at all, whoever starts the server is told.
  server.on('error', (error) => {
    if (server.listening) edge.unaccepted.met(error);
  });
  return server;
};

const begin = (edge: EdgeParts, request: IncomingMessage, response: EdgeResponse): Exchange => {
  const exchange = new Exchange(request, response, edge.sources, edge.versions.latest);
  exchange.apiVersion = edge.versions.echo(exchange.headerValues(API_VERSION_HEADER));
  rememberExchange(exchange);
  edge.exchangeOn.set(request.socket, exchange);
  for (const [name, value] of Object.entries(edge.headersFor(exchange.requestId, exchange.apiVersion))) {
    response.setHeader(name, value);
  }
  response.beforeHead = () => {
    if (edge.drain.isDraining) response.setHeader('Connection', 'close');
  };
  finishOnce(edge, exchange);
  return exchange;
};

const unfinishedBySocket = new WeakMap<Socket, TransientSet<() => void>>();

/** Called when the connection closes, by one listener, however many requests are pipelined on it. */
const unfinishedOn = (socket: Socket): TransientSet<() => void> => {
  const known = unfinishedBySocket.get(socket);
  if (known) return known;
  const unfinished = new TransientSet<() => void>();
  unfinishedBySocket.set(socket, unfinished);
  socket.once('close', () => unfinished.forEach((finish) => finish()));
  return unfinished;
};

/**
 * Listens to the response and to the connection: a pipelined answer that waits behind others does not close when its
 * connection does.
 */
const finishOnce = (edge: EdgeParts, exchange: Exchange): void => {
  const { request, response } = exchange;
  const { socket } = request;
  const leaveDrain = edge.drain.enter(exchange);
  let isFinished = false;
  const finish = (): void => {
    // The response may close while those of the socket are being finished.
    if (isFinished) return;
    isFinished = true;
    response.off('close', finish);
    leaveSocket();
    if (edge.exchangeOn.get(socket) === exchange) edge.exchangeOn.delete(socket);
    leaveDrain();
    finished(edge, exchange);
  };
  const leaveSocket = unfinishedOn(socket).add(finish);
  edge.meter.requestBegan();
  response.on('close', finish);
};

const finished = ({ accessLog, meter, sources }: EdgeParts, exchange: Exchange): void => {
  const { request, response, route, submission } = exchange;
  const status = statusOf(exchange);
  const durationMs = sources.clock.monotonicMs() - exchange.startedAtMs;
  accessLog.write(exchange, { status, bytes: response.bodyBytes, durationMs });
  meter.requestEnded({ route: route?.template ?? null, method: request.method ?? '', status, durationMs });
  if (submission === null) return;
  meter.actionAnswered(submission.mode, status);
  if (submission.toolMs !== null) meter.gateOverhead(durationMs - submission.toolMs);
};

/** What the client saw: an answer to a request that broke off half way was written to nobody. */
const statusOf = ({ request, response, rawStatus }: Exchange): number => {
  if (rawStatus !== null) return rawStatus;
  return response.writableFinished && request.errored === null ? response.statusCode : STATUS_ABORTED;
};
