import { describe, expect, it } from 'vitest';
import { Redactor } from '../redactor.js';
import { resultOf } from './database-result.js';

const namesOf = (names: readonly string[]): readonly string[] => {
  const columns = names.map((name) => ({ name, typeId: 25 }));
  const answer = { tag: 'SELECT 0', columns, rows: [], isCut: false, bytes: 0 };
  const terms = { maxBytes: 1_048_576, redactor: new Redactor([], []), typeNames: new Map<number, string>() };
  return (JSON.parse(resultOf(answer, terms)) as { columns: { name: string }[] }).columns.map(({ name }) => name);
};

describe('columns of one name', () => {
  it('are told apart by a number that no other column has', () =>
    expect(namesOf(['a', 'a_2', 'a', 'b', 'a', 'a_2', 'b'])).toEqual(['a', 'a_2', 'a_3', 'b', 'a_4', 'a_2_2', 'b_2']));

  it('are as many as PostgreSQL can answer', () =>
    expect(new Set(namesOf(Array.from({ length: 1_664 }, () => '?column?'))).size).toBe(1_664));
});
