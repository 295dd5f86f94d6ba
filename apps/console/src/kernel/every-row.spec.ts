import { describe, expect, it } from 'vitest';
import { EVERY_ROW_MAX, everyRow } from './every-row.ts';

it('reads a list of 250 to its end, and each row once', async () => {
  const rows = Array.from({ length: 250 }, (_, index) => index);
  const asked: (string | undefined)[] = [];
  const all = await everyRow<number>(({ limit, cursor }) => {
    asked.push(cursor);
    const from = Number(cursor ?? 0);
    const data = rows.slice(from, from + limit);
    return Promise.resolve({ data, next_cursor: from + limit < rows.length ? String(from + limit) : null });
  });
  expect(all.data).toEqual(rows);
  expect(asked).toEqual([undefined, '100', '200']);
});

describe('a list of ten thousand', () => {
  const TOO_MANY = 'Too many to list.';
  const listOf =
    (rows: number) =>
    ({ limit, cursor }: { readonly limit: number; readonly cursor?: string }) => {
      const from = Number(cursor ?? 0);
      const data = Array.from({ length: Math.min(limit, rows - from) }, (_, index) => from + index);
      return Promise.resolve({ data, next_cursor: from + limit < rows ? String(from + limit) : null });
    };

  it('is read as a whole', async () => {
    expect((await everyRow(listOf(EVERY_ROW_MAX), TOO_MANY)).data).toHaveLength(EVERY_ROW_MAX);
  });

  it('and one is an error that says what to do, where a part must not pass as the whole', async () => {
    await expect(everyRow(listOf(EVERY_ROW_MAX + 1), TOO_MANY)).rejects.toMatchObject({
      code: 'too_many_rows',
      message: TOO_MANY,
    });
  });

  it('and one is cut where no such sentence is given, as for names', async () => {
    expect((await everyRow(listOf(EVERY_ROW_MAX + 1))).data).toHaveLength(EVERY_ROW_MAX);
  });
});
