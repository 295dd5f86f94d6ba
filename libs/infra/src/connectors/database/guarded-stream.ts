import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Why a server's messages are read no further. */
export class OversizedMessage extends Error {
  override readonly name = 'OversizedMessage';
}

/** What the server sent is not the protocol. */
class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** Type byte and length, before the body of each message (PostgreSQL documentation, Message Formats). */
const HEADER_BYTES = 5;
/** The length counts itself. */
const LENGTH_BYTES = 4;
/** Of errors and notices, whose fields end with a zero after the zero of the last text. */
const [ERROR, NOTICE] = [0x45, 0x4e];

/**
 * A connection to a PostgreSQL server as `pg` takes it, over a socket that is up already. A driver reads each message
 * whole, and one row may have a gigabyte: a statement that repeats a letter would be enough to end this process. So the
 * header of each message is looked at as it comes, and one that is too long ends the connection. The driver's parser throws
 * at what is not the protocol, where nobody would catch it, and looks for the end of an error for ever: both end the
 * connection, too, and not this process.
 */
export class GuardedStream extends Duplex {
  /** Of the message that is under way: how many bytes of its body are still to come. */
  private bodyBytesLeft = 0;
  /** A header that was cut between two chunks. */
  private header: Buffer = Buffer.alloc(0);
  private type = 0;
  /** How many zeros the body ended with so far. */
  private zeros = 0;

  constructor(
    private readonly socket: Socket,
    private readonly maxMessageBytes: number,
    /** Gives on what is to be heard of the bytes that came; null: all of it. */
    private readonly heardOf: ((chunk: Buffer) => Buffer) | null = null,
  ) {
    // One socket's worth: more would wait twice.
    super({ allowHalfOpen: false });
    socket.on('data', (chunk: Buffer) => this.pass(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.pause();
  }

  /** For `pg`, which opens what it is given: this one is open. */
  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(isWanted?: boolean): this {
    this.socket.setNoDelay(isWanted);
    return this;
  }

  setKeepAlive(isWanted?: boolean, initialDelayMs?: number): this {
    this.socket.setKeepAlive(isWanted, initialDelayMs);
    return this;
  }

  ref(): this {
    this.socket.ref();
    return this;
  }

  unref(): this {
    this.socket.unref();
    return this;
  }

  /** `pg` parses what it hears at once: whatever that throws is the connection's end. */
  override on(event: string | symbol, listener: (...heard: never[]) => void): this {
    if (event !== 'data') return super.on(event, listener as (...heard: unknown[]) => void);
    const shielded = (chunk: Buffer): void => {
      try {
        (listener as (chunk: Buffer) => void)(chunk);
      } catch (error) {
        this.destroy(new MalformedMessage('the server sent what cannot be read', { cause: error }));
      }
    };
    return super.on(event, shielded);
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }

  private pass(came: Buffer): void {
    const chunk = this.heardOf === null ? came : this.heardOf(came);
    const fault = this.faultIn(chunk);
    if (fault !== null) this.destroy(fault);
    else if (chunk.byteLength > 0 && !this.push(chunk)) this.socket.pause();
  }

  private faultIn(chunk: Buffer): Error | null {
    let at = 0;
    while (at < chunk.byteLength) {
      if (this.bodyBytesLeft > 0) {
        const skipped = Math.min(this.bodyBytesLeft, chunk.byteLength - at);
        this.bodyBytesLeft -= skipped;
        at += skipped;
        if (!this.isEnded(chunk.subarray(at - skipped, at))) return endless();
        continue;
      }
      const taken = chunk.subarray(at, at + HEADER_BYTES - this.header.byteLength);
      this.header = this.header.byteLength === 0 ? taken : Buffer.concat([this.header, taken]);
      at += taken.byteLength;
      if (this.header.byteLength < HEADER_BYTES) return null;
      const bodyBytes = this.header.readUInt32BE(1) - LENGTH_BYTES;
      this.type = this.header.readUInt8(0);
      // One without any field is a zero alone.
      this.zeros = bodyBytes === 1 ? 1 : 0;
      this.header = Buffer.alloc(0);
      if (bodyBytes < 0 || bodyBytes > this.maxMessageBytes) return tooLong();
      this.bodyBytesLeft = bodyBytes;
      if (bodyBytes === 0 && !this.isEnded(NOTHING)) return endless();
    }
    return null;
  }

  /** Takes a piece of a body. False: it was the last one, and an error or notice has no end. */
  private isEnded(piece: Buffer): boolean {
    if (this.type !== ERROR && this.type !== NOTICE) return true;
    for (const byte of piece.subarray(-2)) this.zeros = byte === 0 ? this.zeros + 1 : 0;
    return this.bodyBytesLeft > 0 || this.zeros >= 2;
  }
}

const NOTHING = Buffer.alloc(0);
const tooLong = (): Error => new OversizedMessage('the server sent a message that is too long');
const endless = (): Error => new MalformedMessage('the server sent an error or a notice that has no end');
