import { expect, it } from 'vitest';
import { everyRow } from './every-row.ts';

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
