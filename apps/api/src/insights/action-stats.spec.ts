import { describe, expect, it } from 'vitest';
import { DECISION_STATS, linesOf, VERDICT_STATS } from './action-stats.js';
import { countedSpans, statsWindowAt } from './stats-window.js';

const { days } = statsWindowAt('7d', 'UTC', Date.parse('2026-10-07T23:59:59.999Z'));
const decided = {
  hour: '2026-10-07T09:00:00.000Z',
  ruleId: 'refunds',
  tool: 'pay.refund',
  agent: 'agt_1',
  decision: 'allow',
  source: 'rule',
  status: 'executed',
  actions: 1,
} as const;
type Decided = Parameters<typeof linesOf<'decision' | 'source' | 'status'>>[0][number];
const counted = (...changes: readonly object[]): Decided[] => changes.map((change) => ({ ...decided, ...change }));

describe('the days of statistics', () => {
  it('are whole days of the time zone, of which the last goes on', () => {
    const { from, to, days: utc } = statsWindowAt('7d', 'UTC', Date.parse('2026-10-07T00:00:00.000Z'));
    expect([from, to]).toEqual(['2026-10-01T00:00:00.000Z', '2026-10-08T00:00:00.000Z']);
    expect(utc.map(({ day }) => day)).toEqual(
      ['01', '02', '03', '04', '05', '06', '07'].map((day) => `2026-10-${day}`),
    );
    expect(statsWindowAt('30d', 'UTC', Date.parse('2026-10-07T12:00:00.000Z')).days).toHaveLength(30);
  });

  it('have 25 hours where clocks go back', () => {
    const { days: local } = statsWindowAt('7d', 'Europe/Vienna', Date.parse('2026-10-27T23:00:00.000Z'));
    expect(local.at(-1)).toEqual({
      ...{ day: '2026-10-28', from: '2026-10-27T23:00:00.000Z', to: '2026-10-28T23:00:00.000Z' },
    });
    expect(local.find(({ day }) => day === '2026-10-25')).toEqual({
      ...{ day: '2026-10-25', from: '2026-10-24T22:00:00.000Z', to: '2026-10-25T23:00:00.000Z' },
    });
  });

  it('are counted by whole hours where they begin with one: nothing is counted in parts', () => {
    const bounds = statsWindowAt('30d', 'Europe/Vienna', Date.parse('2026-10-27T12:00:00.000Z'));
    expect(countedSpans(bounds, true)).toEqual({
      whole: { from: bounds.from, to: bounds.to },
      splitHours: new Set(),
      parts: [],
    });
  });

  it('split the hours of their borders in zones of half and quarter hours, and by rule those of the window alone', () => {
    const bounds = statsWindowAt('7d', 'Asia/Kathmandu', Date.parse('2026-10-07T12:00:00.000Z'));
    expect([bounds.from, bounds.to]).toEqual(['2026-09-30T18:15:00.000Z', '2026-10-07T18:15:00.000Z']);
    const whole = { from: '2026-09-30T19:00:00.000Z', to: '2026-10-07T18:00:00.000Z' };
    expect(countedSpans(bounds, false)).toEqual({
      whole,
      splitHours: new Set(['2026-09-30T18:00:00.000Z', '2026-10-07T18:00:00.000Z']),
      parts: [
        { from: bounds.from, to: '2026-09-30T19:00:00.000Z' },
        { from: '2026-10-07T18:00:00.000Z', to: bounds.to },
      ],
    });
    const byDay = countedSpans(bounds, true);
    expect([byDay.whole, byDay.splitHours.size, byDay.parts.length]).toEqual([whole, 8, 14]);
  });
});

describe('the lines of statistics', () => {
  it('by day are one for each, also where nothing happened', () => {
    const { data, others } = linesOf(counted({}, { hour: '2026-10-01T00:00:00.000Z' }), 'day', DECISION_STATS, days);
    expect(data.map(({ day, from, to, total }) => ({ day, from, to, total }))).toEqual(
      days.map((day, at) => ({ ...day, total: at === 0 || at === 6 ? 1 : 0 })),
    );
    expect(others).toBeNull();
  });

  it('tell a refusal by its reason, and a person’s no', () => {
    const deny = { decision: 'deny', status: 'denied' };
    const counts = counted(
      {},
      { ...deny, actions: 2 },
      { ...deny, source: 'budget', actions: 4 },
      { ...deny, source: 'stop', actions: 8 },
      { decision: 'require_approval', status: 'denied', actions: 16 },
      { decision: 'require_approval', actions: 32 },
    );
    expect(linesOf(counts, 'rule', DECISION_STATS, days).data).toEqual([
      {
        rule_id: 'refunds',
        total: 63,
        allowed: 1,
        denied: 14,
        denied_by_budget: 4,
        denied_by_stop: 8,
        asked: 48,
        refused_by_person: 16,
      },
    ]);
  });

  it('tell what rests on the tool’s own word from what was looked at', () => {
    const verdicts = [
      { verdict: 'VERIFIED', level: 'L0', actions: 1 },
      { verdict: 'VERIFIED', level: 'L1', actions: 2 },
      { verdict: 'MISMATCH', level: 'L1', actions: 4 },
      { verdict: 'UNVERIFIABLE', level: 'L0', actions: 8 },
      { verdict: null, level: null, actions: 16 },
    ] as const;
    const counts = verdicts.map((each) => ({ ...each, tool: 'pay.refund' }));
    expect(linesOf(counts, 'tool', VERDICT_STATS, days).data).toEqual([
      {
        tool: 'pay.refund',
        total: 31,
        verified: 3,
        verified_independently: 2,
        mismatch: 4,
        unverifiable: 8,
        not_witnessed: 16,
      },
    ]);
  });

  it('are 100 at most, what has the most actions first, and the rest in one', () => {
    const counts = Array.from({ length: 102 }, (_, at) => ({ tool: `t.${at}`, actions: at + 1 }));
    const { data, others } = linesOf(counted(...counts), 'tool', DECISION_STATS, days);
    expect([data.length, data[0]?.['tool'], data[99]?.['tool']]).toEqual([100, 't.101', 't.2']);
    expect(others).toMatchObject({ total: 3, allowed: 3 });
  });
});
