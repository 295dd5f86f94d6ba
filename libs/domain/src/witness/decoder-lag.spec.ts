import { describe, expect, it } from 'vitest';
import { isLagging, LAG_BYTES_MAX, LAG_MS_MAX, LagGauge } from './decoder-lag.js';
import { bytesOfLsn, hasPassed } from './log-position.js';

describe('a place in a write-ahead log', () => {
  it('is as many bytes as its two numbers say', () => {
    expect(bytesOfLsn('0/0')).toBe(0n);
    expect(bytesOfLsn('1/0000000a')).toBe(4_294_967_306n);
    expect(bytesOfLsn('FFFFFFFF/FFFFFFFF')).toBe(2n ** 64n - 1n);
  });

  it.each(['', '0', '0/', '0/G', '123456789/0', ' 0/0'])('is not %j', (text) =>
    expect(() => bytesOfLsn(text)).toThrow(RangeError),
  );

  it('is passed by whoever has read up to it', () => {
    expect(hasPassed('0/FF', '0/FF')).toBe(true);
    expect(hasPassed('1/0', '0/FFFFFFFF')).toBe(true);
    expect(hasPassed('0/FE', '0/FF')).toBe(false);
  });
});

describe('the lag of a decoder', () => {
  it('is none before anything is known, and where it has read all there is', () => {
    const gauge = new LagGauge();
    expect(gauge.now(5)).toEqual({ bytes: 0, ms: 0 });
    gauge.seen('0/100', 10);
    gauge.reached('0/100');
    expect(gauge.now(20)).toEqual({ bytes: 0, ms: 0 });
  });

  it('counts the bytes, and the time since the log first went past it', () => {
    const gauge = new LagGauge();
    gauge.reached('0/100');
    gauge.seen('0/200', 10);
    gauge.seen('0/300', 20);
    expect(gauge.now(50)).toEqual({ bytes: 0x200, ms: 40 });
    gauge.reached('0/200');
    expect(gauge.now(50)).toEqual({ bytes: 0x100, ms: 30 });
    gauge.reached('0/300');
    expect(gauge.now(50)).toEqual({ bytes: 0, ms: 0 });
  });

  it('does not grow while the log stands still and is read', () => {
    const gauge = new LagGauge();
    gauge.reached('0/100');
    for (const ms of [10, 20, 30]) gauge.seen('0/100', ms);
    expect(gauge.now(1_000)).toEqual({ bytes: 0, ms: 0 });
  });

  it('keeps the oldest of what it is behind, however long it stands still', () => {
    const gauge = new LagGauge();
    for (let ms = 1; ms < 5_000; ms += 1) gauge.seen(`0/${ms.toString(16)}`, ms);
    expect(gauge.now(5_000)).toEqual({ bytes: 4_999, ms: 4_999 });
  });

  it('is too much past 16 MiB or 10 s, and well again at half of that', () => {
    const told = (bytes: number, ms: number, was = false): boolean => isLagging({ bytes, ms }, was);
    expect([told(LAG_BYTES_MAX, LAG_MS_MAX), told(LAG_BYTES_MAX + 1, 0), told(0, LAG_MS_MAX + 1)]).toEqual([
      false,
      true,
      true,
    ]);
    expect([told(LAG_BYTES_MAX / 2, LAG_MS_MAX / 2, true), told(LAG_BYTES_MAX / 2 + 1, 0, true)]).toEqual([
      false,
      true,
    ]);
  });
});
