import type { InfiniteData } from '@tanstack/react-query';
import type { Schemas } from '../kernel/client.ts';

/** A delivery, with its event's id as the row's id: an endpoint has one delivery for each event. */
export type DeliveryRow = Schemas['WebhookDelivery'] & { readonly id: string };

export const rowOf = (delivery: Schemas['WebhookDelivery']): DeliveryRow => ({ ...delivery, id: delivery.event });

type Pages<Page> = InfiniteData<Page & { readonly data: readonly DeliveryRow[] }>;

/**
 * The cached pages with newer versions of their rows. New deliveries are not added: they are counted, and shown if the
 * person asks for them.
 */
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
