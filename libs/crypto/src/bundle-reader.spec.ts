import { describe, expect, it } from 'vitest';

import { BundleReader } from './bundle-reader.js';
import { bundleOf, contentOf, givenChain } from './testing/given-chain.js';

const bundle = await bundleOf(contentOf(givenChain(40)));
const half = bundle.length >> 1;

/** A reader that has been asked for its first block of lines. */
const readingLines = async (source: AsyncIterable<Uint8Array>) => {
  const reader = new BundleReader(source);
  await reader.keys(await reader.manifest());
  const lines = reader.deeds();
  await lines.next();
  return { reader, lines };
};

describe('a reader of bundles', () => {
  it('goes on reading while its lines are judged', async () => {
    let isAskedForMore: () => void;
    const askedForMore = new Promise<void>((resolve) => (isAskedForMore = resolve));
    const source = async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(bundle.subarray(0, half));
      isAskedForMore();
      yield bundle.subarray(half);
    };
    await readingLines(source());
    // A reader that waits to be asked would never come here.
    await askedForMore;
  });

  it('tells of a failure that it has met already when it is asked, and not before', async () => {
    const failure = new Error('the disk is gone');
    let hasFailed: () => void;
    const failed = new Promise<void>((resolve) => (hasFailed = resolve));
    const source = async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(bundle.subarray(0, half));
      hasFailed();
      throw failure;
    };
    const { lines } = await readingLines(source());
    await failed;
    // In this turn of the event loop a failure that nobody waits for would end the process.
    await new Promise(setImmediate);
    await expect(lines.next()).rejects.toBe(failure);
  });

  it('closes its source although it has asked for more', async () => {
    let isClosed = false;
    const source = async function* (): AsyncGenerator<Uint8Array> {
      try {
        yield await Promise.resolve(bundle.subarray(0, half));
        for (;;) yield bundle.subarray(half);
      } finally {
        isClosed = true;
      }
    };
    const { reader } = await readingLines(source());
    await reader.close();
    expect(isClosed).toBe(true);
  });
});
