import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

import { EgressFailure } from './egress-failure.js';

/** What is asked for, and all that is decoded. */
export const ACCEPTED_ENCODINGS = 'gzip, br, deflate';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

export interface ResponseBody {
  readonly bytes: Buffer;
  /** False for a coding this door does not know, or several inside each other: the bytes are then as they came. */
  readonly isDecoded: boolean;
}

/**
 * Reads the whole body and no more than `maxBytes` of it, counted after decompression: a bomb ends at the limit, not in
 * memory.
 * @throws {EgressFailure} too_large, broken
 */
export const readBody = async (incoming: IncomingMessage, method: string, maxBytes: number): Promise<ResponseBody> => {
  const status = incoming.statusCode ?? 0;
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const coding = hasBody ? codingOf(incoming) : '';
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding]?.() : undefined;
  if (hasBody && decoder === undefined && Number(incoming.headers['content-length'] ?? 0) > maxBytes) {
    incoming.destroy();
    throw new EgressFailure('too_large', true, { status });
  }
  const collector = new Collector(maxBytes, status);
  await (decoder === undefined
    ? collected(incoming, () => pipeline(incoming, collector.collect))
    : collected(incoming, () => pipeline(incoming, decoder, collector.collect)));
  return { bytes: collector.bytes(), isDecoded: coding === '' || decoder !== undefined };
};

/** Empty for a body that is sent as it is. */
const codingOf = (incoming: IncomingMessage): string => {
  const coding = (incoming.headers['content-encoding'] ?? '').trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
};

const collected = async (incoming: IncomingMessage, read: () => Promise<void>): Promise<void> => {
  let receivedBytes = 0;
  incoming.on('data', (chunk: Buffer) => (receivedBytes += chunk.byteLength));
  try {
    await read();
  } catch (error) {
    if (error instanceof EgressFailure) throw error;
    // A coding is named and nothing follows: nothing was compressed.
    if (receivedBytes === 0 && incoming.complete) return;
    throw new EgressFailure('broken', true, { status: incoming.statusCode ?? 0, cause: error });
  }
};

class Collector {
  private readonly chunks: Buffer[] = [];
  private length = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly status: number,
  ) {}

  readonly collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      this.length += chunk.byteLength;
      if (this.length > this.maxBytes) throw new EgressFailure('too_large', true, { status: this.status });
      this.chunks.push(chunk);
    }
  };

  bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }
}
