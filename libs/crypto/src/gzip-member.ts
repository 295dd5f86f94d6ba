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
const PIECE_BYTES = 16_384;

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
 * are not compared. Throws `BundleFormatError`: `truncated` when the file ends early, `bad_gzip` otherwise, and not before
 * it has given all content that docs/deed-format.md counts: the same for one file, however its bytes arrive.
 */
export async function* readGzipMember(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const content = new ContentSum();
  const inflate = new ReplayableInflate();
  let trailer: Buffer = Buffer.alloc(0);
  try {
    for await (const piece of afterHeader(source)) {
      const { chunks, rest, isWrong } = await inflate.write(piece);
      yield* content.pass(chunks);
      if (isWrong) throw new BundleFormatError('bad_gzip');
      trailer = Buffer.concat([trailer, rest]);
      if (trailer.length > TRAILER_BYTES) throw new BundleFormatError('bad_gzip');
    }
  } finally {
    inflate.close();
  }
  if (trailer.length < TRAILER_BYTES) throw new BundleFormatError('truncated');
  if (!content.trailer().equals(trailer)) throw new BundleFormatError('bad_gzip');
}

/** What follows the header, in pieces of at most 16 KiB. The header is judged as far as it arrives. */
async function* afterHeader(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let header: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    let bytes: Buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (header.length < HEADER.length) {
      const missing = HEADER.length - header.length;
      header = Buffer.concat([header, bytes.subarray(0, missing)]);
      if (gzipHeaderFault(header) !== null) throw new BundleFormatError('bad_gzip');
      bytes = bytes.subarray(missing);
    }
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) yield bytes.subarray(start, start + PIECE_BYTES);
  }
}

/** What a piece of a deflate stream gives. */
interface Inflated {
  readonly chunks: readonly Buffer[];
  /** The bytes behind the end of the deflate stream, where it has ended. */
  readonly rest: Buffer;
  /** The deflate stream breaks its format in this piece; `chunks` holds what stands before. */
  readonly isWrong: boolean;
}

/**
 * Says where a wrong deflate stream begins to be wrong. zlib gives no content with an error, so that a decompressor alone
 * would lose more or less of it, as its input happens to be cut. A second one stays one piece behind: when the first one
 * meets an error, the second takes the piece byte after byte, and gives what the bytes before the wrong one hold.
 */
class ReplayableInflate {
  private readonly first = new Inflate();
  private readonly second = new Inflate();
  private previous: Buffer = Buffer.alloc(0);

  async write(piece: Buffer): Promise<Inflated> {
    const previous = this.previous;
    this.previous = piece;
    const [result] = await Promise.all([this.first.write(piece), this.second.write(previous)]);
    return result.isWrong ? { ...result, chunks: await this.replayed(piece) } : result;
  }

  close(): void {
    this.first.close();
    this.second.close();
  }

  private async replayed(piece: Buffer): Promise<Buffer[]> {
    const content: Buffer[] = [];
    for (let at = 0; at < piece.length; at += 1) {
      const { chunks, isWrong } = await this.second.write(piece.subarray(at, at + 1));
      if (isWrong) break;
      content.push(...chunks);
    }
    return content;
  }
}

/**
 * A raw deflate stream (RFC 1951), fed piece by piece. Each piece gives all of its content before the next is taken:
 * a piece of 16 KiB holds at most 17 MiB of content, so no ratio fills the memory. A pipeline of streams would close its
 * source early where the format ends, and whether an error comes of that would be a matter of timing.
 */
class Inflate {
  private readonly stream = createInflateRaw({ chunkSize: INFLATED_CHUNK_BYTES });
  private chunks: Buffer[] = [];
  private fedBytes = 0;
  private hasEnded = false;
  private fail: (error: Error) => void = () => undefined;

  constructor() {
    this.stream.on('data', (chunk: Buffer) => this.chunks.push(chunk));
    this.stream.on('error', (error) => {
      this.fail(error);
    });
  }

  async write(piece: Buffer): Promise<Inflated> {
    if (this.hasEnded || piece.length === 0) return { chunks: [], rest: piece, isWrong: false };
    const isWrong = !(await this.isTaken(piece));
    const chunks = this.chunks;
    this.chunks = [];
    return { chunks, rest: isWrong ? Buffer.alloc(0) : this.restOf(piece), isWrong };
  }

  close(): void {
    this.stream.destroy();
  }

  /** The decompressor stops where its format ends, and leaves the rest unread. */
  private restOf(piece: Buffer): Buffer {
    this.fedBytes += piece.length;
    const restBytes = this.fedBytes - this.stream.bytesWritten;
    this.hasEnded = restBytes > 0;
    return piece.subarray(piece.length - restBytes);
  }

  private async isTaken(piece: Buffer): Promise<boolean> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.fail = reject;
        this.stream.write(piece, () => resolve());
      });
      return true;
    } catch (error) {
      if (isFormatError(error)) return false;
      throw error;
    }
  }
}

const isFormatError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'Z_DATA_ERROR' || error.code === 'Z_NEED_DICT');

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
