import { Readable } from 'node:stream';
import { crc32, createDeflateRaw, createInflateRaw } from 'node:zlib';

import { BundleFormatError } from './bundle-format-error.js';

// RFC 1952: magic, method 8, no flags, no time, no hint, unknown system. The same bytes on every platform.
const HEADER = Buffer.from('1f8b08000000000000ff', 'hex');
const FIXED_HEADER_BYTES = 4;
const MAGIC_BYTES = 2;
const TRAILER_BYTES = 8;
const TWO_TO_32 = 2 ** 32;
const DEFLATED_CHUNK_BYTES = 131_072;
const INFLATED_CHUNK_BYTES = 262_144;
const PIECE_BYTES = 32_768;

/** Compresses a stream into exactly one gzip member (RFC 1952) with a header that never changes. */
export async function* writeGzipMember(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const content = new ContentSum();
  const plain = Readable.from(content.watch(source));
  const deflate = createDeflateRaw({ chunkSize: DEFLATED_CHUNK_BYTES });
  // A pipe does not pass errors on: the loop below throws what the source threw.
  plain.once('error', (error) => deflate.destroy(error));
  try {
    yield HEADER;
    for await (const chunk of plain.pipe(deflate)) yield chunk as Uint8Array;
  } finally {
    plain.destroy();
  }
  yield content.trailer();
}

/**
 * Decompresses exactly one gzip member and refuses everything else a gzip file may hold: flags with names and comments,
 * a second member, bytes after the end. The checksum and the length are compared when the last chunk was taken, so a
 * reader must read to the end before it believes. The time, hint and system fields of the header carry no content and
 * are not compared. Throws `BundleFormatError`: `truncated` when the file ends early, `bad_gzip` otherwise.
 */
export async function* readGzipMember(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const frame = new MemberFrame(source);
  const content = new ContentSum();
  const inflate = new Inflate();
  try {
    for await (const piece of frame.deflated()) {
      yield* content.pass(await inflate.write(piece));
      if (inflate.hasEndedEarly) throw new BundleFormatError('bad_gzip');
    }
    yield* content.pass(await inflate.end());
  } finally {
    inflate.close();
  }
  if (!content.trailer().equals(frame.trailer)) throw new BundleFormatError('bad_gzip');
}

/**
 * A raw deflate stream (RFC 1951), fed piece by piece. Each piece gives all of its content before the next is taken:
 * a piece of 32 KiB holds at most 33 MiB of content, so no ratio fills the memory. A pipeline of streams would close its
 * source early where the format ends, and whether an error comes of that would be a matter of timing.
 */
class Inflate {
  private readonly stream = createInflateRaw({ chunkSize: INFLATED_CHUNK_BYTES });
  private content: Buffer[] = [];
  private fedBytes = 0;
  private fail: (error: Error) => void = () => undefined;

  constructor() {
    this.stream.on('data', (chunk: Buffer) => this.content.push(chunk));
    this.stream.on('error', (error) => {
      this.fail(error);
    });
  }

  async write(piece: Buffer): Promise<Buffer[]> {
    await this.step((done) => this.stream.write(piece, done));
    this.fedBytes += piece.length;
    return this.taken();
  }

  /** The decompressor stops where its format ends; what it leaves unread stands where nothing may stand. */
  get hasEndedEarly(): boolean {
    return this.stream.bytesWritten !== this.fedBytes;
  }

  async end(): Promise<Buffer[]> {
    await this.step((done) => this.stream.once('end', done).end());
    return this.taken();
  }

  close(): void {
    this.stream.destroy();
  }

  private async step(action: (done: () => void) => void): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.fail = reject;
        action(resolve);
      });
    } catch (error) {
      throw translate(error);
    }
  }

  private taken(): Buffer[] {
    const content = this.content;
    this.content = [];
    return content;
  }
}

const translate = (error: unknown): unknown => {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'Z_BUF_ERROR') return new BundleFormatError('truncated', { cause: error });
  if (code === 'Z_DATA_ERROR' || code === 'Z_NEED_DICT') return new BundleFormatError('bad_gzip', { cause: error });
  return error;
};

/** Takes a member apart: its header is judged, its last eight bytes are kept back, the rest is compressed content. */
class MemberFrame {
  trailer: Buffer = Buffer.alloc(0);

  constructor(private readonly source: AsyncIterable<Uint8Array>) {}

  /** The compressed content in pieces of at most 32 KiB. */
  async *deflated(): AsyncGenerator<Buffer> {
    let pending = Buffer.alloc(0);
    let isHeaderRead = false;
    for await (const chunk of this.source) {
      pending = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk]);
      if (!isHeaderRead) {
        judgeHeader(pending);
        if (pending.length < HEADER.length) continue;
        isHeaderRead = true;
        pending = pending.subarray(HEADER.length);
      }
      while (pending.length > TRAILER_BYTES) {
        const piece = pending.subarray(0, Math.min(pending.length - TRAILER_BYTES, PIECE_BYTES));
        pending = pending.subarray(piece.length);
        yield piece;
      }
    }
    if (!isHeaderRead || pending.length < TRAILER_BYTES) throw new BundleFormatError('truncated');
    this.trailer = pending;
  }
}

/**
 * Why a file that begins so is no bundle: `not_gzip`, or `other_header` for gzip with another method or with flags, as
 * `gzip` writes it of a file whose name it keeps. Null where its header is as docs/deed-format.md demands, or too little
 * of it is there.
 */
export const gzipHeaderFault = (beginning: Uint8Array): 'not_gzip' | 'other_header' | null => {
  if (isHeaderSoFar(beginning, FIXED_HEADER_BYTES)) return null;
  return isHeaderSoFar(beginning, MAGIC_BYTES) ? 'other_header' : 'not_gzip';
};

const isHeaderSoFar = (bytes: Uint8Array, count: number): boolean => {
  const known = Math.min(bytes.length, count);
  return HEADER.subarray(0, known).equals(bytes.subarray(0, known));
};

/** Judges as much of a header as has arrived: magic, method and flags. */
const judgeHeader = (bytes: Buffer): void => {
  if (gzipHeaderFault(bytes) !== null) throw new BundleFormatError('bad_gzip');
};

/** CRC-32 and length of what passes by: the trailer of RFC 1952 section 2.3.1. */
class ContentSum {
  private checksum = 0;
  private length = 0;

  *pass(chunks: readonly Buffer[]): Generator<Buffer> {
    for (const chunk of chunks) {
      // Node 20 begins anew where an empty view has no memory behind it.
      if (chunk.byteLength > 0) this.checksum = crc32(chunk, this.checksum);
      this.length = (this.length + chunk.byteLength) % TWO_TO_32;
      yield chunk;
    }
  }

  async *watch(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    for await (const chunk of source) yield* this.pass([Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)]);
  }

  trailer(): Buffer {
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.writeUInt32LE(this.checksum, 0);
    trailer.writeUInt32LE(this.length, 4);
    return trailer;
  }
}
