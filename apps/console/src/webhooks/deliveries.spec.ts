import { describe, expect, it } from 'vitest';
import { countOfNew, type DeliveryRow, refreshed } from './deliveries.ts';

const row = (id: string, status: DeliveryRow['status'] = 'pending'): DeliveryRow =>
  ({ id, event: id, status }) as DeliveryRow;
const pages = (...data: readonly DeliveryRow[][]) => ({
  pages: data.map((rows) => ({ data: rows, has_more: false })),
  pageParams: data.map(() => undefined),
});

describe('deliveries that are read again', () => {
  it('change in place, and add no row', () => {
    const before = pages([row('evt_2'), row('evt_1')], [row('evt_0', 'dead')]);
    const after = refreshed(before, [row('evt_3'), row('evt_2', 'delivered'), row('evt_1', 'retrying')]);
    expect(after.pages.map(({ data }) => data.map(({ id, status }) => [id, status]))).toEqual([
      [
        ['evt_2', 'delivered'],
        ['evt_1', 'retrying'],
      ],
      [['evt_0', 'dead']],
    ]);
    expect(after.pages[0]?.has_more).toBe(false);
  });

  it('are counted if they are new', () => {
    expect(countOfNew([row('evt_1')], [row('evt_3'), row('evt_2'), row('evt_1')])).toBe(2);
    expect(countOfNew([row('evt_1')], [row('evt_1')])).toBe(0);
  });
});
