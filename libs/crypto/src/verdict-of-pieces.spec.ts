import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';

import type { BundleVerdict } from './bundle-verdict.js';
import { flipped, HONEST_OPTIONS } from './testing/attacked-bundle.js';
import { givenChain, packed, rawOf, streamOf } from './testing/given-chain.js';
import { verifyBundle } from './verify-bundle.js';

const DEEDS = 4;
const bundle = await packed(rawOf(givenChain(DEEDS)));
const badLine = await packed({
  ...rawOf(givenChain(DEEDS)),
  lines: rawOf(givenChain(DEEDS)).lines.with(2, Buffer.from('no line\n')),
});

const folder = mkdtempSync(join(tmpdir(), 'pieces-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const verdictOf = (source: string | AsyncIterable<Uint8Array>): Promise<BundleVerdict> =>
  verifyBundle(source, HONEST_OPTIONS);

const whole = (bytes: Buffer): Promise<BundleVerdict> => verdictOf(streamOf([bytes]));

/** The bytes in pieces that end at these places, some of them empty. */
const cutAt = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((one, other) => one - other);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};

const byteByByte = (bytes: Buffer): Buffer[] => [...bytes].map((byte) => Buffer.of(byte));

const onDisk = (bytes: Buffer): string => {
  const path = join(folder, 'bundle.tar.gz');
  writeFileSync(path, bytes);
  return path;
};

/** Through a pipe that holds less than the bundle. */
const piped = (pieces: readonly Buffer[]): AsyncIterable<Uint8Array> =>
  Readable.from(pieces).pipe(new PassThrough({ highWaterMark: 64 }));

const places = fc.array(fc.nat(), { maxLength: 12 });

/** A bundle that is whole, ends early, goes on, or has bits flipped anywhere: header, deflate stream or trailer. */
const damaged = fc
  .record({
    start: fc.constantFrom(bundle, badLine),
    bits: fc.array(fc.nat(), { maxLength: 2 }),
    keep: fc.option(fc.nat(), { freq: 2 }),
    more: fc.uint8Array({ maxLength: 3 }),
  })
  .map(({ start, bits, keep, more }) => {
    const turned = bits.reduce((bytes, bit) => flipped(bytes, bit % (bytes.length * 8)), start);
    return keep === null ? Buffer.concat([turned, more]) : turned.subarray(0, keep % turned.length);
  });

describe('one file has one verdict', () => {
  it('in any pieces, from a file and through a pipe, whole or damaged', async () => {
    await fc.assert(
      fc.asyncProperty(damaged, places, async (bytes, ends) => {
        const verdict = await whole(bytes);
        expect(await verdictOf(streamOf(cutAt(bytes, ends)))).toEqual(verdict);
        expect(await verdictOf(onDisk(bytes))).toEqual(verdict);
        expect(await verdictOf(piped(cutAt(bytes, ends)))).toEqual(verdict);
      }),
      { numRuns: 100 },
    );
  });

  it('byte by byte', async () => {
    await fc.assert(
      fc.asyncProperty(damaged, async (bytes) => {
        expect(await verdictOf(streamOf(byteByByte(bytes)))).toEqual(await whole(bytes));
      }),
      { numRuns: 15 },
    );
  });

  it.each([
    ['whole', bundle],
    ['wrong in the middle of its deflate stream', flipped(badLine, (badLine.length >> 1) * 8)],
    ['wrong in its last deflated bytes', flipped(bundle, (bundle.length - 10) * 8)],
    ['without its last byte', bundle.subarray(0, -1)],
  ])('cut once, everywhere: %s', async (_name, bytes) => {
    const verdict = await whole(bytes);
    const cuts = [...bytes.keys()].filter((place) => place % 9 === 0 || place < 16 || place > bytes.length - 16);
    for (const place of cuts) {
      expect(await verdictOf(streamOf(cutAt(bytes, [place]))), `cut at ${place}`).toEqual(verdict);
    }
  });

  it('that judges the more of it the more of it is there', async () => {
    const seen: number[] = [];
    for (let length = bundle.length % 3; length < bundle.length; length += 3) {
      const { result, reason, deeds } = await whole(bundle.subarray(0, length));
      expect({ result, reason }).toEqual({ result: 'incomplete', reason: 'truncated' });
      seen.push(deeds);
    }
    expect(seen).toEqual([...seen].sort((one, other) => one - other));
    // The last bytes before the trailer hold content too: all deeds are judged before the file ends.
    expect(seen.slice(-4)).toEqual([DEEDS, DEEDS, DEEDS, DEEDS]);
  });
});
