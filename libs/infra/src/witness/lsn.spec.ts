import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareLsn, formatLsn, parseLsn } from './lsn.js';

describe('places in a write-ahead log', () => {
  it('are read and written in the spelling of PostgreSQL', () => {
    expect(parseLsn('16/B374D848')).toBe(0x16_b374_d848n);
    expect(formatLsn(0x16_0000_00a8n)).toBe('16/A8');
    expect(parseLsn('ffffffff/ffffffff')).toBe(2n ** 64n - 1n);
  });

  it('come back as they were', () => {
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (lsn) => parseLsn(formatLsn(lsn)) === lsn));
  });

  it('compare by place and not by spelling', () => {
    expect(['A/0', '9/FF', '10/1', '9/100'].sort(compareLsn)).toEqual(['9/FF', '9/100', 'A/0', '10/1']);
    expect(compareLsn('0/a', '0/A')).toBe(0);
    expect(() => compareLsn('0/A', '')).toThrow(RangeError);
  });

  it.each(['', '/', '1', '1/', '/1', '1/1/1', '123456789/0', ' 1/1', '1/1\n', 'g/1', '-1/1', '0x1/1'])(
    'are no other text: %j',
    (text) => {
      expect(parseLsn(text)).toBeNull();
    },
  );
});
