import { describe, expect, it } from 'vitest';
import { windowAt, windowBefore } from './overview-window.js';

const at = (instant: string) => Date.parse(instant);

describe('the window of an overview', () => {
  it('ends with the hour that goes on, and has 24 of them', () => {
    const window = windowAt('24h', at('2026-10-01T09:30:00.001Z'));
    expect(window).toMatchObject({ from: '2026-09-30T10:00:00.000Z', to: '2026-10-01T10:00:00.000Z' });
    expect(window.starts).toHaveLength(24);
    expect([window.starts[0], window.starts[23]]).toEqual(['2026-09-30T10:00:00.000Z', '2026-10-01T09:00:00.000Z']);
  });

  it('ends now where an hour begins now, and a millisecond later with the next', () => {
    expect(windowAt('24h', at('2026-10-01T09:00:00.000Z')).to).toBe('2026-10-01T09:00:00.000Z');
    expect(windowAt('24h', at('2026-10-01T09:00:00.001Z')).to).toBe('2026-10-01T10:00:00.000Z');
  });

  it('of seven days has 28 buckets of six hours, which begin at midnight of UTC', () => {
    const window = windowAt('7d', at('2026-10-08T05:00:00.000Z'));
    expect(window).toMatchObject({ from: '2026-10-01T06:00:00.000Z', to: '2026-10-08T06:00:00.000Z' });
    expect(window.starts.slice(0, 4).map((start) => start.slice(11, 16))).toEqual(['06:00', '12:00', '18:00', '00:00']);
    expect(window.starts).toHaveLength(28);
  });

  it('comes after one as long', () => {
    const before = windowBefore('24h', windowAt('24h', at('2026-10-01T09:30:00.000Z')));
    expect(before).toMatchObject({ from: '2026-09-29T10:00:00.000Z', to: '2026-09-30T10:00:00.000Z' });
  });
});
