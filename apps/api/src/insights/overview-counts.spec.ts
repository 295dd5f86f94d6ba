import { describe, expect, it } from 'vitest';
import { bucketsOf, type OverviewCount, totalsOf } from './overview-counts.js';
import { windowAt } from './overview-window.js';

const window = windowAt('24h', Date.parse('2026-10-01T09:30:00.000Z'));
const allowed: OverviewCount = {
  hour: '2026-10-01T09:00:00.000Z',
  decision: 'allow',
  source: 'rule',
  status: 'executed',
  verdict: 'VERIFIED',
  actions: 1,
};
const denied: OverviewCount = { ...allowed, decision: 'deny', source: 'default', status: 'denied', verdict: null };

describe('the sums of a window', () => {
  it('tell refusals by what refused, and what a person denied is none of them', () => {
    const counts = [
      denied,
      { ...denied, source: 'rule', actions: 2 },
      { ...denied, source: 'builtin', actions: 4 },
      { ...denied, source: 'budget', actions: 8 },
      { ...denied, source: 'stop', actions: 16 },
      { ...denied, decision: 'require_approval', source: 'rule', actions: 32 },
    ] as const;
    expect(totalsOf(counts, window)).toMatchObject({
      actions: { total: 63, executed: 0 },
      blocked: { total: 31, policy: 7, budget: 8, stop: 16 },
    });
  });

  it('count each status and verdict, and what goes on in the total alone', () => {
    const counts: OverviewCount[] = [
      allowed,
      { ...allowed, status: 'failed', verdict: 'MISMATCH', actions: 2 },
      { ...allowed, status: 'expired', verdict: 'UNVERIFIABLE', actions: 4 },
      { ...allowed, status: 'cancelled', verdict: null, actions: 8 },
      { ...allowed, status: 'processing', verdict: null, actions: 16 },
    ];
    expect(totalsOf(counts, window)).toMatchObject({
      actions: { total: 31, executed: 1, failed: 2, expired: 4, cancelled: 8 },
      verdicts: { verified: 1, mismatch: 2, unverifiable: 4, not_witnessed: 24 },
    });
  });

  it('leave out the hours before the window and after it', () => {
    const hours = ['2026-09-30T09:00:00.000Z', '2026-09-30T10:00:00.000Z', '2026-10-01T10:00:00.000Z'];
    const counts = hours.map((hour) => ({ ...allowed, hour }));
    expect(totalsOf(counts, window).actions.total).toBe(1);
  });
});

describe('the buckets of a window', () => {
  it('are all there, oldest first, with what was refused in each', () => {
    const buckets = bucketsOf([allowed, denied, { ...denied, hour: window.from, actions: 3 }], window);
    expect(buckets).toHaveLength(24);
    expect(buckets[0]).toEqual({ start: window.from, total: 3, blocked: 3 });
    expect(buckets[1]).toEqual({ start: '2026-09-30T11:00:00.000Z', total: 0, blocked: 0 });
    expect(buckets[23]).toEqual({ start: '2026-10-01T09:00:00.000Z', total: 2, blocked: 1 });
  });

  it('of six hours sum up theirs', () => {
    const week = windowAt('7d', Date.parse('2026-10-01T09:30:00.000Z'));
    const hours = ['2026-10-01T06:00:00.000Z', '2026-10-01T11:00:00.000Z', '2026-10-01T05:00:00.000Z'];
    const buckets = bucketsOf(
      hours.map((hour) => ({ ...allowed, hour })),
      week,
    );
    expect(buckets.slice(-2).map(({ total }) => total)).toEqual([1, 2]);
  });
});
