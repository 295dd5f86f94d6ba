import type { FastifyReply } from 'fastify';
import type { EdgeResponse } from './edge-response.js';
import type { Exchange } from './exchange.js';

/** How long a reader may take to read the end of its answer, before the connection is cut. */
const LAST_READ_MS = 2_000;

/**
 * An answer that is written as things happen, for as long as its route likes: the one way past the reply, with the headers,
 * the access line and the drain that every answer has. A handler that begins one returns nothing.
 */
export class StreamedAnswer {
  private isFull = false;
  private hasEnded = false;

  private constructor(private readonly response: EdgeResponse) {
    response.on('drain', () => {
      this.isFull = false;
    });
  }

  /** Writes the head. What a HEAD asks for ends with it. */
  static begin(exchange: Exchange, reply: FastifyReply, headers: Readonly<Record<string, string>>): StreamedAnswer {
    const { response, request } = exchange;
    reply.hijack();
    response.writeHead(200, headers);
    response.flushHeaders();
    const answer = new StreamedAnswer(response);
    if (request.method === 'HEAD') answer.end();
    return answer;
  }

  /**
   * Its reader takes no more for now. Whoever writes all the same is not refused: Node keeps it in memory, without bounds.
   */
  get isBlocked(): boolean {
    return this.isFull;
  }

  get isOver(): boolean {
    return this.hasEnded || this.response.destroyed;
  }

  /** What is written has been taken, blocked or not: it is never to be written again. */
  write(chunk: Uint8Array): void {
    if (this.isOver) return;
    this.isFull = !this.response.write(chunk);
  }

  /** Its reader gets what was written, if it reads on at once. */
  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const cut = setTimeout(() => this.response.destroy(), LAST_READ_MS);
    cut.unref();
    this.response.once('close', () => clearTimeout(cut));
    this.response.end();
  }

  /** Called once, when the connection is gone or the end was read. */
  onClose(closed: () => void): void {
    if (this.response.destroyed) closed();
    else this.response.once('close', closed);
  }
}
