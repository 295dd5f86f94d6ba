import { describe, expect, it } from 'vitest';
import { DECISION_PARTS, type Line, listOf, VERDICT_PARTS } from './stats.ts';

const SPAN = { from: '2026-11-21T00:00:00.000Z', to: '2026-11-28T00:00:00.000Z' };
const line = (changes: Partial<Line>): Line => ({ total: 3, ...changes });
const [ALLOWED = null] = DECISION_PARTS;
const filters = (of: Line, part = ALLOWED) =>
  Object.fromEntries(new URLSearchParams(listOf(of, part, SPAN)?.split('?')[1]));
const within = { 'created_at[gte]': SPAN.from, 'created_at[lt]': SPAN.to };

describe('the list of actions behind a number', () => {
  it.each([
    [line({ tool: 'crm.get' }), { tool: 'crm.get', decision: 'allow', ...within }],
    [line({ agent: 'agt_1' }), { agent: 'agt_1', decision: 'allow', ...within }],
    [line({ rule_id: 'a&b=c' }), { rule_id: 'a&b=c', decision: 'allow', ...within }],
  ])('is found by what the line is about: %j', (of, found) => expect(filters(of)).toEqual(found));

  it('is that of one day, from its beginning to its end in the time zone', () => {
    const [from, to] = ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'];
    expect(filters(line({ day: '2026-10-25', from, to }))).toEqual({
      decision: 'allow',
      'created_at[gte]': from,
      'created_at[lt]': to,
    });
  });

  it('is null if no filter finds the actions', () => {
    expect(listOf(line({ rule_id: null }), ALLOWED, SPAN)).toBeNull();
    expect(listOf(line({}), ALLOWED, SPAN)).toBeNull();
    expect(listOf(line({ tool: 'crm.*' }), ALLOWED, SPAN)).toBeNull();
    expect(listOf(line({ tool: 'crm.get' }), VERDICT_PARTS.at(-1) ?? null, SPAN)).toBeNull();
  });

  it('has only the filters of the line for its total', () =>
    expect(filters(line({ tool: 'crm.get' }), null)).toEqual({ tool: 'crm.get', ...within }));
});

describe('the parts of a line', () => {
  it('make up its total', () => {
    const verdicts = { verified: 5, verified_independently: 2, mismatch: 1, unverifiable: 1, not_witnessed: 3 };
    const sum = (parts: typeof DECISION_PARTS, of: Line) => parts.reduce((all, { count }) => all + count(of), 0);
    expect(sum(VERDICT_PARTS, line({ total: 10, ...verdicts }))).toBe(10);
    expect(sum(DECISION_PARTS, line({ allowed: 4, asked: 2, denied: 1 }))).toBe(7);
  });
});
