import type { FastifyReply } from 'fastify';
import type { Exchange } from '../http/exchange.js';
import { StreamedAnswer } from '../http/streamed-answer.js';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // For nginx and its kin, which would keep messages until their buffer is full.
  'X-Accel-Buffering': 'no',
};

/** Nobody hears it: it keeps the connection from looking dead. */
const PING = Buffer.from(': ping\n\n');

/** JSON-RPC messages as they come, in place of one JSON answer. */
export class SseAnswer {
  private constructor(private readonly answer: StreamedAnswer) {}

  /** Whether the client takes one (RFC 9110, section 12.5.1). */
  static isTakenBy(exchange: Exchange): boolean {
    return exchange.headerValues('Accept').some((value) => value.includes('text/event-stream'));
  }

  /** The caller must be confirmed: from here on nothing else can be answered. */
  static begin(exchange: Exchange, reply: FastifyReply): SseAnswer {
    return new SseAnswer(StreamedAnswer.begin(exchange, reply, HEADERS));
  }

  get isOver(): boolean {
    return this.answer.isOver;
  }

  /** Its reader takes no more for now. */
  get isBlocked(): boolean {
    return this.answer.isBlocked;
  }

  /** @param message JSON on one line, as `JSON.stringify` writes it */
  send(message: string): void {
    this.answer.write(Buffer.from(`event: message\ndata: ${message}\n\n`));
  }

  ping(): void {
    this.answer.write(PING);
  }

  end(): void {
    this.answer.end();
  }

  onClose(closed: () => void): void {
    this.answer.onClose(closed);
  }
}
