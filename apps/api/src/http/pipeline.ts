import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { EdgeResponse } from './edge-response.js';

/** Requests of one connection that may wait behind the one being served. */
export const MAX_WAITING_REQUESTS = 32;

/** A request whose turn comes when those before it are answered. */
interface Turn {
  readonly request: IncomingMessage;
  readonly response: EdgeResponse;
  readonly serve: () => void;
}

/**
 * The requests of one connection, served one after another (RFC 9112, section 9.3.2). Node hands out every request that
 * it has read, and reads on until answers pile up: without this, one connection could have as many requests under way as
 * its sender cares to write.
 */
class Pipeline {
  private readonly waiting: Turn[] = [];
  private isServing = false;
  private isFull = false;
  private end: (() => void) | null = null;

  constructor(private readonly socket: Socket) {
    socket.once('close', () => {
      this.waiting.length = 0;
    });
  }

  enter(turn: Turn): void {
    if (this.isFull) {
      // The last request that may wait is complete, since another came behind it: nothing more has to be read.
      stopReading(this.socket);
      return;
    }
    if (!this.isServing) {
      this.begin(turn);
      return;
    }
    this.waiting.push(turn);
    if (this.waiting.length < MAX_WAITING_REQUESTS) return;
    this.isFull = true;
    turn.response.endsConnection = true;
  }

  endWith(end: () => void): void {
    // A waiting request that is incomplete stays incomplete: it is the one that cannot be read.
    const isBroken = this.waiting.at(-1)?.request.complete === false;
    if (this.isFull && !isBroken) return;
    if (isBroken) this.waiting.pop();
    this.isFull = true;
    this.end = end;
    if (!this.isServing) end();
  }

  private begin({ response, serve }: Turn): void {
    this.isServing = true;
    serve();
    response.once('close', () => {
      this.isServing = false;
      if (this.socket.destroyed) return;
      const next = this.waiting.shift();
      if (next) this.begin(next);
      else this.end?.();
    });
  }
}

/** A server's connection with Node's parser, which is Node's own and in none of its types. */
interface ParsedSocket extends Socket {
  parser?: { onIncoming: () => number } | null;
}

/** What Node's parser is told where a request ends HTTP on its connection, as CONNECT does: bytes behind it are no request. */
const NO_HTTP_BEHIND = 2;

/**
 * Stops for good: Node resumes a connection by itself when a request on it is done with. Nothing more is parsed of the
 * 64 KiB that were read last either: they hold up to 2,400 requests, which would take 5 MB until the connection closes.
 */
const stopReading = (socket: ParsedSocket): void => {
  socket.pause();
  socket.resume = () => socket;
  if (socket.parser) socket.parser.onIncoming = () => NO_HTTP_BEHIND;
};

const pipelines = new WeakMap<Socket, Pipeline>();

/**
 * Serves a request when all that came before it on its connection are answered. The connection ends after the answer to
 * the last that may wait. What was sent behind it is not served; its client gets no answer, and so knows that.
 */
export const serveInTurn = (request: IncomingMessage, response: EdgeResponse, serve: () => void): void =>
  pipelineOf(request.socket).enter({ request, response, serve });

/**
 * Ends a connection on which no further request can be read: calls `end` when all requests that came before are
 * answered. It does nothing where the connection ends anyway.
 */
export const endInTurn = (socket: Socket, end: () => void): void => pipelineOf(socket).endWith(end);

const pipelineOf = (socket: Socket): Pipeline => {
  const pipeline = pipelines.get(socket) ?? new Pipeline(socket);
  pipelines.set(socket, pipeline);
  return pipeline;
};
