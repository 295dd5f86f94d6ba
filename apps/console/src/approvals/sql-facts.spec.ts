import { describe, expect, it } from 'vitest';
import { isOfEveryRow, sqlFactsIn } from './sql-facts.ts';

const sql = {
  kind: 'update',
  tables: ['public.orders'],
  statement_count: 1,
  has_where: true,
  is_parameterized: false,
  functions: ['now'],
};

describe('the facts about a statement', () => {
  it('are read from those of the request', () =>
    expect(sqlFactsIn({ sql })).toEqual({
      kind: 'update',
      tables: ['public.orders'],
      hasWhere: true,
      isParameterized: false,
      functions: ['now'],
    }));

  it.each([[{}], [{ sql: null }], [{ sql: { ...sql, tables: [1] } }], [{ http: {} }]])('are none in %j', (facts) =>
    expect(sqlFactsIn(facts)).toBeNull(),
  );

  it.each([
    ['update', true, false],
    ['update', false, true],
    ['delete', false, true],
    ['truncate', false, true],
    ['insert', false, false],
    ['select', false, false],
    ['merge', false, false],
  ])('tell whether every row is changed: %s, WHERE %s', (kind, hasWhere, every) =>
    expect(isOfEveryRow({ kind, hasWhere })).toBe(every),
  );
});
