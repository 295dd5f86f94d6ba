import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { frameOf, pingFrame, resyncFrame, RETRY } from '../../apps/api/src/events/sse-frames.js';
import { SseParser } from '../support/sse-parser.js';

type Vector = {
  readonly name: string;
  readonly events: readonly { readonly type: string; readonly id: string; readonly data: string }[];
} & ({ readonly chunks: readonly string[] } | { readonly bytes: string; readonly chunk_size: number | null });

const FOLDER = process.env['VECTORS_DIR'];
const vectors = FOLDER
  ? (JSON.parse(readFileSync(join(FOLDER, 'sse', 'sse_parse_vectors.json'), 'utf8')) as { vectors: Vector[] }).vectors
  : [];

const parse = (chunks: readonly Uint8Array[], parser = new SseParser()) =>
  chunks.flatMap((chunk) => parser.feed(chunk));
const inChunks = (bytes: Uint8Array, size: number): readonly Uint8Array[] =>
  bytes.length <= size ? [bytes] : [bytes.subarray(0, size), ...inChunks(bytes.subarray(size), size)];
const chunksOf = (vector: Vector): readonly Uint8Array[] =>
  'chunks' in vector
    ? vector.chunks.map((chunk) => Buffer.from(chunk))
    : inChunks(Buffer.from(vector.bytes), vector.chunk_size ?? Infinity);

/** What agents and tools may put into names, and more. */
const HOSTILE = 'a\nb\rc\r\nd\u0000e\u2028f\ndata: planted\n\nevent: planted\u{1F600}\uFEFF';

describe('the frames of a stream', () => {
  it('are what they were, cut into single bytes, whatever the data hold (rule EVENT-6)', () => {
    const data = { object: 'event', name: HOSTILE, [HOSTILE]: [HOSTILE] };
    const frames = [
      RETRY,
      frameOf('hello', { object: 'stream' }),
      pingFrame('abc.11'),
      frameOf('deed.sealed', data, 'abc.12'),
    ];
    const bytes = Buffer.concat([...frames, resyncFrame('lagged')]);
    const parser = new SseParser();
    const messages = parse(inChunks(bytes, 1), parser);
    expect(messages.map(({ type, id }) => [type, id])).toEqual([
      ['hello', ''],
      ['deed.sealed', 'abc.12'],
      ['resync', 'abc.12'],
    ]);
    expect(JSON.parse(messages[1]!.data)).toEqual(data);
    expect(JSON.parse(messages[2]!.data)).toEqual({ object: 'resync', reason: 'lagged' });
    expect([parser.comments, parser.retryMs, parser.lastEventId]).toEqual([[' ping'], 3_000, 'abc.12']);
  });
});

describe.skipIf(FOLDER === undefined)(
  'the parser of these tests, by the shared vectors (set VECTORS_DIR to run)',
  () => {
    it.each(vectors)('$name', (vector) => {
      expect(parse(chunksOf(vector))).toEqual(vector.events);
    });
  },
);
