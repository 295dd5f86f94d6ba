import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client that still sends may take to read its answer, before the connection is cut. */
const LINGER_MS = 2_000;

/**
 * Node's response, with what every answer needs whichever layer writes it: body bytes are counted for the access line,
 * and a connection on which a body was left unread is closed after the answer, because what follows on it is no request.
 */
export class EdgeResponse extends ServerResponse {
  /** Bytes of the body that were handed to the socket. */
  bodyBytes = 0;
  /** Runs once, just before the status line is written: the last moment for headers. */
  beforeHead: () => void = () => undefined;
  /** The last answer on its connection, whatever its client asked for. */
  endsConnection = false;

  override writeHead(...args: unknown[]): this {
    this.beforeHead();
    if (this.endsConnection || hasUnreadBody(this.req)) {
      this.setHeader('Connection', 'close');
      if (this.req.socket) lingerOnClose(this.req.socket);
    }
    return super.writeHead(...(args as Parameters<ServerResponse['writeHead']>));
  }

  override write(chunk: unknown, ...rest: unknown[]): boolean {
    this.count(chunk);
    return super.write(...([chunk, ...rest] as Parameters<ServerResponse['write']>));
  }

  override end(...args: unknown[]): this {
    this.count(args[0]);
    return super.end(...(args as Parameters<ServerResponse['end']>));
  }

  private count(chunk: unknown): void {
    if (this.req.method === 'HEAD' || this.statusCode === 204 || this.statusCode === 304) return;
    if (typeof chunk === 'string') this.bodyBytes += Buffer.byteLength(chunk);
    else if (chunk instanceof Uint8Array) this.bodyBytes += chunk.byteLength;
  }
}

/** Whether the request announced a body; an empty chunked one counts, because that cannot be known yet. */
export const announcesBody = (request: IncomingMessage): boolean =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;

const hasUnreadBody = (request: IncomingMessage): boolean => announcesBody(request) && !request.complete;

const lingering = new WeakSet<Socket>();

/**
 * Whether a connection is being ended by {@link endAndLinger}. A request that still arrives on it was sent before the
 * client saw the answer, and is not served.
 */
export const isLingering = (socket: Socket): boolean => lingering.has(socket);

/** Node closes both directions when the last answer is written; here its client may still read why it was refused. */
const lingerOnClose = (socket: Socket): void => {
  lingering.add(socket);
  socket.destroySoon = () => endAndLinger(socket);
};

/**
 * Ends our direction of a connection, after `last`, and throws away what still comes in: with unread bytes in the receive
 * buffer the kernel sends a reset, which may overtake the answer (RFC 9112, section 9.6). Cut when the client ends its
 * direction too, or after {@link LINGER_MS}, however much it still sends.
 */
export const endAndLinger = (socket: Socket, last = ''): void => {
  lingering.add(socket);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  socket.end(last);
  socket.resume();
};
