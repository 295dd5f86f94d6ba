import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Why a server's messages are read no further. */
export class OversizedMessage extends Error {
  override readonly name = 'OversizedMessage';
}

/** Type byte and length, before the body of each message (PostgreSQL documentation, Message Formats). */
const HEADER_BYTES = 5;
/** The length counts itself. */
const LENGTH_BYTES = 4;

/**
 * A connection to a PostgreSQL server as `pg` takes it, over a socket that is up already. A driver reads each message
 * whole, and one row may have a gigabyte: a statement that repeats a letter would be enough to end this process. So the
 * header of each message is looked at as it comes, and one that is too long ends the connection.
 */
export class GuardedStream extends Duplex {
  /** Of the message that is under way: how many bytes of its body are still to come. */
  private bodyBytesLeft = 0;
  /** A header that was cut between two chunks. */
  private header: Buffer = Buffer.alloc(0);

  constructor(
    private readonly socket: Socket,
    private readonly maxMessageBytes: number,
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

  private pass(chunk: Buffer): void {
    if (!this.isWithinBounds(chunk)) {
      this.destroy(new OversizedMessage('the server sent a message that is too long'));
      return;
    }
    if (!this.push(chunk)) this.socket.pause();
  }

  private isWithinBounds(chunk: Buffer): boolean {
    let at = 0;
    while (at < chunk.byteLength) {
      if (this.bodyBytesLeft > 0) {
        const skipped = Math.min(this.bodyBytesLeft, chunk.byteLength - at);
        this.bodyBytesLeft -= skipped;
        at += skipped;
        continue;
      }
      const taken = chunk.subarray(at, at + HEADER_BYTES - this.header.byteLength);
      this.header = this.header.byteLength === 0 ? taken : Buffer.concat([this.header, taken]);
      at += taken.byteLength;
      if (this.header.byteLength < HEADER_BYTES) return true;
      const bodyBytes = this.header.readUInt32BE(1) - LENGTH_BYTES;
      this.header = Buffer.alloc(0);
      if (bodyBytes < 0 || bodyBytes > this.maxMessageBytes) return false;
      this.bodyBytesLeft = bodyBytes;
    }
    return true;
  }
}
