import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GrowingBuffer } from './growing-buffer.js';

const gathered = (pieces: readonly Uint8Array[]): GrowingBuffer => {
  const buffer = new GrowingBuffer();
  for (const piece of pieces) buffer.append(piece);
  return buffer;
};

describe('a growing buffer', () => {
  it('holds what was appended, in order, whatever the pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
        const buffer = gathered(pieces);
        expect(buffer.bytes()).toEqual(Buffer.concat(pieces));
        expect(buffer.byteLength).toBe(Buffer.concat(pieces).byteLength);
      }),
    );
  });

  it('is as large as a single piece, and less than twice as large as many', () => {
    expect(gathered([new Uint8Array(100_000)]).bytes().buffer.byteLength).toBe(100_000);
    const byteByByte = gathered(Array.from({ length: 100_000 }, () => new Uint8Array(1)));
    expect(byteByByte.bytes().buffer.byteLength).toBeLessThan(200_000);
  });
});
