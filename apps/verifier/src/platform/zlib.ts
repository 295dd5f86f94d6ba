// What libs/crypto uses of node:zlib to read a bundle, for a browser: pako, which is zlib's own code in another language and so
// refuses what zlib refuses. DecompressionStream does not say how much of its input it took.
import { Inflate } from 'pako';
import { Buffer } from './buffer.js';

const MAX_CODE = 0xff;
const POLYNOMIAL = 0xedb88320;

const TABLE = Uint32Array.from({ length: MAX_CODE + 1 }, (_, code) => {
  let value = code;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value >>> 0;
});

/** CRC-32 as RFC 1952 has it, going on from the one before. */
export const crc32 = (bytes: Uint8Array, before = 0): number => {
  let value = ~before >>> 0;
  for (const byte of bytes) value = ((TABLE[(value ^ byte) & MAX_CODE] ?? 0) ^ (value >>> 8)) >>> 0;
  return ~value >>> 0;
};

const SYNC_FLUSH = 2;

/** What the types of the package leave out. */
interface PakoState {
  readonly ended: boolean;
  readonly strm: { readonly avail_in: number };
}

type Listener = (given: never) => void;

/** A raw deflate stream, with as much of Node's stream as `readGzipMember` uses. */
class InflateRaw {
  bytesWritten = 0;
  private hasEnded = false;
  private readonly inflate: Inflate;
  private readonly listeners = new Map<string, Listener>();

  constructor(chunkSize: number) {
    this.inflate = new Inflate({ raw: true, chunkSize });
    this.inflate.onData = (chunk) => this.tell('data', Buffer.from(chunk));
    this.inflate.onEnd = () => undefined;
  }

  on(event: 'data' | 'error', listener: Listener): this {
    this.listeners.set(event, listener);
    return this;
  }

  write(piece: Uint8Array, done: () => void): void {
    // Behind its end nothing is read any more.
    if (this.hasEnded) return done();
    // SYNC_FLUSH: all that the piece gives comes before the next one.
    const isTaken = this.inflate.push(piece, SYNC_FLUSH);
    const { ended, strm } = this.inflate as unknown as PakoState;
    this.bytesWritten += piece.length - strm.avail_in;
    this.hasEnded = ended;
    if (isTaken) done();
    else this.tell('error', Object.assign(new Error('wrong deflate stream'), { code: 'Z_DATA_ERROR' }));
  }

  destroy(): void {
    this.listeners.clear();
  }

  private tell(event: string, given: unknown): void {
    this.listeners.get(event)?.(given as never);
  }
}

export const createInflateRaw = ({ chunkSize }: { readonly chunkSize: number }): InflateRaw =>
  new InflateRaw(chunkSize);

export const createDeflateRaw = (): never => {
  throw new Error('This page writes no bundle.');
};
