import { pipeline, Readable } from 'node:stream';
import { crc32, createDeflateRaw, createInflateRaw } from 'node:zlib';

import { BundleFormatError } from './bundle-format-error.js';

// RFC 1952: magic, method 8, no flags, no time, no hint, unknown system. The same bytes on every platform.
const HEADER = Buffer.from('1f8b08000000000000ff', 'hex');
const FIXED_HEADER_BYTES = 4;
const TRAILER_BYTES = 8;
const TWO_TO_32 = 2 ** 32;
const CHUNK_BYTES = 65_536;

/** Compresses a stream into exactly one gzip member (RFC 1952) with a header that never changes. */
export async function* writeGzipMember(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const content = new ContentSum();
  const deflate = createDeflateRaw({ chunkSize: CHUNK_BYTES });
  const ended = pipe(Readable.from(content.watch(source)), deflate);
  yield HEADER;
  for await (const chunk of deflate) yield chunk as Uint8Array;
  const failure = await ended;
  if (failure !== null) throw failure;
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
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const ended = pipe(Readable.from(frame.deflated()), inflate);
  try {
    for await (const chunk of content.watch(inflate)) yield chunk as Buffer;
    const failure = await ended;
    if (failure !== null) throw failure;
  } catch (error) {
    throw translate(error);
  }
  // The decompressor stops where its format ends; whatever it left unread stands where nothing may stand.
  if (!frame.isRead || inflate.bytesWritten !== frame.deflatedBytes) throw new BundleFormatError('bad_gzip');
  if (!content.trailer().equals(frame.trailer)) throw new BundleFormatError('bad_gzip');
}

/**
 * Resolves when both ends are closed: to what failed, or null. A decompressor that ends before its source closes it
 * early, which is judged by the bytes it left. It never rejects, because the loop over the target throws the same error.
 */
const pipe = (source: Readable, target: NodeJS.WritableStream): Promise<Error | null> =>
  new Promise((resolve) => {
    pipeline(source, target, (error) => {
      resolve(error === null || error === undefined || error.code === 'ERR_STREAM_PREMATURE_CLOSE' ? null : error);
    });
  });

const translate = (error: unknown): unknown => {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'Z_BUF_ERROR') return new BundleFormatError('truncated', { cause: error });
  if (code === 'Z_DATA_ERROR' || code === 'Z_NEED_DICT') return new BundleFormatError('bad_gzip', { cause: error });
  return error;
};

/** Takes a member apart: its header is judged, its last eight bytes are kept back, the rest is compressed content. */
class MemberFrame {
  deflatedBytes = 0;
  isRead = false;
  trailer: Buffer = Buffer.alloc(0);

  constructor(private readonly source: AsyncIterable<Uint8Array>) {}

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
      const ready = pending.length - TRAILER_BYTES;
      if (ready > 0) {
        this.deflatedBytes += ready;
        yield pending.subarray(0, ready);
        pending = pending.subarray(ready);
      }
    }
    if (!isHeaderRead || pending.length < TRAILER_BYTES) throw new BundleFormatError('truncated');
    this.trailer = pending;
    this.isRead = true;
  }
}

/** Judges as much of a header as has arrived: magic, method and flags. */
const judgeHeader = (bytes: Buffer): void => {
  const known = Math.min(bytes.length, FIXED_HEADER_BYTES);
  if (!HEADER.subarray(0, known).equals(bytes.subarray(0, known))) throw new BundleFormatError('bad_gzip');
};

/** CRC-32 and length of what passes by: the trailer of RFC 1952 section 2.3.1. */
class ContentSum {
  private checksum = 0;
  private length = 0;

  async *watch(source: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      this.checksum = crc32(chunk, this.checksum);
      this.length = (this.length + chunk.byteLength) % TWO_TO_32;
      yield chunk;
    }
  }

  trailer(): Buffer {
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.writeUInt32LE(this.checksum, 0);
    trailer.writeUInt32LE(this.length, 4);
    return trailer;
  }
}
