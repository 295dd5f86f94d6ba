import { describe, expect, it } from 'vitest';
import { DECISION_STATS, linesOf, VERDICT_STATS } from './action-stats.js';
import { statsWindowAt } from './stats-window.js';

const { days } = statsWindowAt('7d', Date.parse('2026-10-07T23:59:59.999Z'));
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
  it('are whole days of UTC, of which the last goes on', () => {
    expect(statsWindowAt('7d', Date.parse('2026-10-07T00:00:00.000Z'))).toEqual({
      from: '2026-10-01T00:00:00.000Z',
      to: '2026-10-08T00:00:00.000Z',
      days: ['01', '02', '03', '04', '05', '06', '07'].map((day) => `2026-10-${day}`),
    });
    expect(statsWindowAt('30d', Date.parse('2026-10-07T12:00:00.000Z')).days).toHaveLength(30);
  });
});

describe('the lines of statistics', () => {
  it('by day are one for each, also where nothing happened', () => {
    const { data, others } = linesOf(counted({}, { hour: '2026-10-01T00:00:00.000Z' }), 'day', DECISION_STATS, days);
    expect(data.map(({ day, total }) => [day, total])).toEqual(
      days.map((day, at) => [day, at === 0 || at === 6 ? 1 : 0]),
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
