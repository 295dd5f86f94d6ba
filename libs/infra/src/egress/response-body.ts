import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

import type { Digest } from '#libs/crypto';

import { GrowingBuffer } from '../runtime/index.js';
import { headersOf } from './answer-headers.js';
import { EgressFailure } from './egress-failure.js';

/** What is asked for, and all that is decoded. */
export const ACCEPTED_ENCODINGS = 'gzip, br, deflate';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

/** What undoes the coding of an answer: `none` needs none, `unknown` is no coding that this door knows. */
export const decoderOf = (incoming: IncomingMessage): Transform | 'none' | 'unknown' => {
  const coding = codingOf(incoming);
  if (coding === '') return 'none';
  return (Object.hasOwn(DECODERS, coding) ? DECODERS[coding]?.() : undefined) ?? 'unknown';
};

/** A body that was read to its end and is too large to be kept. */
export interface DigestedBody {
  readonly digest: Digest;
  readonly byteLength: number;
}

export interface ResponseBody {
  readonly body: Buffer | DigestedBody;
  /** False for a coding this door does not know, or several inside each other: the bytes are then as they came. */
  readonly isDecoded: boolean;
}

export interface BodyLimits {
  /** Of the whole body. */
  readonly maxBytes: number;
  /** A larger body is kept as its digest alone: what many answers at once take of memory is this and not `maxBytes`. */
  readonly keptBytes: number;
}

/**
 * Reads the whole body and no more than `maxBytes` of it, counted after decompression: a bomb ends at the limit, not in
 * memory (rule REST-14).
 * @throws {EgressFailure} too_large, broken
 */
export const readBody = async (
  incoming: IncomingMessage,
  method: string,
  limits: BodyLimits,
): Promise<ResponseBody> => {
  const status = incoming.statusCode ?? 0;
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const found = hasBody ? decoderOf(incoming) : 'none';
  const decoder = typeof found === 'string' ? undefined : found;
  if (hasBody && decoder === undefined && Number(incoming.headers['content-length'] ?? 0) > limits.maxBytes) {
    incoming.destroy();
    throw new EgressFailure('too_large', true, { status, headers: headersOf(incoming) });
  }
  const collector = new Collector(limits);
  await (decoder === undefined
    ? collected(incoming, collector, () => readPlain(incoming, collector))
    : collected(incoming, collector, () => pipeline(incoming, decoder, collector.collect)));
  return { body: collector.body(), isDecoded: found !== 'unknown' };
};

/** Empty for a body that is sent as it is. */
const codingOf = (incoming: IncomingMessage): string => {
  const coding = (incoming.headers['content-encoding'] ?? '').trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
};

const collected = async (incoming: IncomingMessage, collector: Collector, read: () => Promise<void>): Promise<void> => {
  const status = incoming.statusCode ?? 0;
  let receivedBytes = 0;
  incoming.on('data', (chunk: Buffer) => (receivedBytes += chunk.byteLength));
  try {
    await read();
  } catch (error) {
    // Ending a stream half way raises errors of its own: what was collected says why it ended.
    if (collector.isOver)
      throw new EgressFailure('too_large', true, { status, headers: headersOf(incoming), cause: error });
    // A coding is named and nothing follows: nothing was compressed.
    if (receivedBytes === 0 && incoming.complete) return;
    throw new EgressFailure('broken', true, { status, headers: headersOf(incoming), cause: error });
  }
};

/** Without a decoder, by events: nearly every answer is one short chunk, for which an iterator is a lot of machinery. */
const readPlain = (incoming: IncomingMessage, collector: Collector): Promise<void> =>
  new Promise((resolve, reject) => {
    const cutShort = (): void => reject(new Error('the connection was closed before the end of the answer'));
    // Closed before anybody listened: no event of it is left to come.
    if (incoming.destroyed && !incoming.readableEnded) return cutShort();
    incoming.on('data', (chunk: Buffer) => {
      try {
        collector.take(chunk);
      } catch (error) {
        reject(new Error('the answer was not read to its end', { cause: error }));
        incoming.destroy();
      }
    });
    incoming
      .on('end', resolve)
      .on('error', reject)
      .on('close', () => {
        if (!incoming.readableEnded) cutShort();
      });
  });

class Collector {
  private kept = new GrowingBuffer();
  private length = 0;
  /** Of all that was read, once it is too large to be kept. */
  private hash: Hash | null = null;

  constructor(private readonly limits: BodyLimits) {}

  get isOver(): boolean {
    return this.length > this.limits.maxBytes;
  }

  readonly collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) this.take(chunk);
  };

  take(chunk: Buffer): void {
    this.length += chunk.byteLength;
    if (this.isOver) throw new Error('the body is larger than allowed');
    if (this.length > this.limits.keptBytes) this.digest(chunk);
    else this.kept.append(chunk);
  }

  body(): Buffer | DigestedBody {
    if (this.hash === null) return this.kept.bytes();
    return { digest: `sha256:${this.hash.digest('hex')}` as Digest, byteLength: this.length };
  }

  private digest(chunk: Buffer): void {
    if (this.hash === null) {
      this.hash = createHash('sha256').update(this.kept.bytes());
      this.kept = new GrowingBuffer();
    }
    this.hash.update(chunk);
  }
}
