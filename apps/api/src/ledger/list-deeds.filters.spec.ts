import type { DomainError } from '#libs/domain/kernel';
import { describe, expect, it } from 'vitest';
import { testId } from '../../../../test/support/given-log.js';
import { type DeedFilterParameters, parseDeedFilters } from './list-deeds.filters.js';

describe('deed filters', () => {
  it('ask for the whole chain in ascending order if nothing was sent', () => {
    expect(parseDeedFilters({})).toEqual({
      kinds: null,
      action: null,
      issuedFrom: null,
      issuedBefore: null,
      seqFrom: null,
      seqBefore: null,
      order: 'asc',
    });
  });

  it('accept kinds, an action, ranges and an order', () => {
    expect(
      parseDeedFilters({
        kind: 'action,admin',
        action: testId('act', 1),
        'issued_at[gte]': '2026-10-01T00:00:00Z',
        'issued_at[lt]': '2026-10-02T00:00:00Z',
        'seq[gte]': 4,
        'seq[lt]': 7,
        order: 'desc',
      }),
    ).toEqual({
      kinds: ['action', 'admin'],
      action: testId('act', 1),
      issuedFrom: '2026-10-01T00:00:00.000Z',
      issuedBefore: '2026-10-02T00:00:00.000Z',
      seqFrom: 4,
      seqBefore: 7,
      order: 'desc',
    });
  });

  it.each<DeedFilterParameters>([
    { kind: '' },
    { kind: 'actions' },
    { action: 'act_1' },
    { action: testId('deed', 1) },
    { 'issued_at[gte]': 'yesterday' },
    { 'issued_at[lt]': '2026-10-02' },
    { order: 'ASC' },
    { order: '' },
  ])('refuse %j and name it', (sent) => {
    try {
      parseDeedFilters(sent);
      expect.fail('it was accepted');
    } catch (error) {
      const { code, param } = error as DomainError;
      expect([code, param]).toEqual(['validation_failed', Object.keys(sent)[0]]);
    }
  });
});
