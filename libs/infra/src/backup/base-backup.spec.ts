import { describe, expect, it } from 'vitest';
import { segmentsBetween } from './base-backup.js';

const MIB = 1024 * 1024;

describe('the segments of a write-ahead log', () => {
  it.each([
    ['one', '000000010000000000000002', '000000010000000000000002', ['000000010000000000000002']],
    [
      'several',
      '0000000A0000000000000009',
      '0000000A000000000000000B',
      ['0000000A0000000000000009', '0000000A000000000000000A', '0000000A000000000000000B'],
    ],
    [
      'those across the end of a part, of which 16 MiB segments have 256',
      '0000000100000000000000FF',
      '000000010000000100000000',
      ['0000000100000000000000FF', '000000010000000100000000'],
    ],
  ])('between two are %s', (_title, first, last, names) => {
    expect(segmentsBetween(first, last, 16 * MIB)).toEqual(names);
  });

  it('lead nowhere backwards, and from one timeline to another', () => {
    expect(() => segmentsBetween('000000010000000000000003', '000000010000000000000002', 16 * MIB)).toThrow(
      'no segments',
    );
    expect(() => segmentsBetween('000000010000000000000002', '000000020000000000000003', 16 * MIB)).toThrow(
      'no segments',
    );
    expect(() => segmentsBetween('', '', 16 * MIB)).toThrow('no segments');
  });
});
