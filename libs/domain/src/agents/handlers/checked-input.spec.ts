import { describe, expect, it } from 'vitest';
import { thrown } from '../../../../../test/support/thrown.js';
import { checkedName, DomainError } from '../../kernel/index.js';
import { overlapEnd, OVERLAP_MAX_SECONDS } from './checked-input.js';

const refusal = (work: () => unknown): object => {
  const { code, param } = thrown(DomainError, work);
  return { code, param };
};
const refusedFor = (param: string) => ({ code: 'validation_failed', param });

describe('what an administrator writes', () => {
  it.each(['a', 'Support Europe', '😀'.repeat(120)])('the name %s is fine', (name) =>
    expect(checkedName(name)).toBe(name),
  );
  it.each(['', 'a'.repeat(121), 'two\nlines', 'hidden\u200bmark'])('the name %j is not', (name) =>
    expect(refusal(() => checkedName(name))).toEqual(refusedFor('name')),
  );

  it('an overlap ends so many seconds later, a day when nothing is said', () => {
    const now = '2026-10-01T12:00:00.000Z';
    expect(overlapEnd(now, 0)).toBe(now);
    expect(overlapEnd(now)).toBe('2026-10-02T12:00:00.000Z');
    expect(overlapEnd(now, OVERLAP_MAX_SECONDS)).toBe('2026-10-08T12:00:00.000Z');
  });
  it.each([-1, 0.5, Number.NaN, OVERLAP_MAX_SECONDS + 1])('an overlap of %s seconds is refused', (seconds) =>
    expect(refusal(() => overlapEnd('2026-10-01T12:00:00.000Z', seconds))).toEqual(refusedFor('overlap_seconds')),
  );
});
