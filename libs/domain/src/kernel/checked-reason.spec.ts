import { describe, expect, it } from 'vitest';
import { thrown } from '../../../../test/support/thrown.js';
import { checkedReason } from './checked-reason.js';
import { DomainError } from './domain-error.js';

describe('a reason is one line of 1 to 280 characters', () => {
  it.each([null, 'a', '😀'.repeat(280)])('%s is fine', (reason) => expect(checkedReason(reason)).toBe(reason));
  it.each(['', 'a'.repeat(281), 'two\nlines', 'hidden\u200bmark'])('%j is not', (reason) =>
    expect(thrown(DomainError, () => checkedReason(reason))).toMatchObject({
      code: 'validation_failed',
      param: 'reason',
    }),
  );
});
