import type { InfiniteData } from '@tanstack/react-query';
import type { Schemas } from '../kernel/client.ts';

/** A delivery is found by its event: an endpoint has one of each. */
export type DeliveryRow = Schemas['WebhookDelivery'] & { readonly id: string };

export const rowOf = (delivery: Schemas['WebhookDelivery']): DeliveryRow => ({ ...delivery, id: delivery.event });

type Pages<Page> = InfiniteData<Page & { readonly data: readonly DeliveryRow[] }>;

/** Rows that stand, as they were read again just now. None is put in: what is new is counted, and shown by a press. */
export const refreshed = <Page>(pages: Pages<Page>, latest: readonly DeliveryRow[]): Pages<Page> => {
  const known = new Map(latest.map((row) => [row.id, row]));
  return {
    ...pages,
    pages: pages.pages.map((page) => ({ ...page, data: page.data.map((row) => known.get(row.id) ?? row) })),
  };
};

export const countOfNew = (rows: readonly DeliveryRow[], latest: readonly DeliveryRow[]): number => {
  const known = new Set(rows.map(({ id }) => id));
  return latest.filter(({ id }) => !known.has(id)).length;
};
