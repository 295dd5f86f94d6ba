import type { Schemas } from '../kernel/client.ts';
import { keyOf } from '../kernel/keys.ts';
import { pagesOf, query } from '../kernel/query.ts';
import { rowOf } from './deliveries.ts';

export const webhookPages = pagesOf('/v1/webhooks', {});

export const webhookQuery = (id: string) => query('/v1/webhooks/{id}', { path: { id } });

/**
 * @param status the filter from the address, several statuses separated by commas, as one text: a value that the service
 * does not know is for the service to refuse. Null reads all.
 */
export const deliveryPages = (id: string, status: string | null) =>
  pagesOf(
    '/v1/webhooks/{id}/deliveries',
    { path: { id }, ...(status === null ? {} : { query: { status: [status as Schemas['DeliveryStatus']] } }) },
    { rowOf },
  );

/** The beginning of the keys of a webhook's lists of deliveries, whatever their filters. */
export const deliveriesKey = (id: string) => keyOf('/v1/webhooks/{id}/deliveries', { path: { id } });
