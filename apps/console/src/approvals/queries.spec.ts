import { QueryClient } from '@tanstack/react-query';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { LiveCache } from '../kernel/live-cache.ts';
import { invalidate } from '../kernel/refresh.ts';

beforeAll(() => void vi.stubGlobal('location', { origin: 'http://console.test' }));
afterAll(() => void vi.unstubAllGlobals());

it.each<[what: string, change: (queries: QueryClient) => void]>([
  ['a decision made here', (queries) => invalidate(queries, ['approvals', 'overview', 'actions'])],
  [
    'an event of an approval',
    (queries) =>
      new LiveCache(queries, () => undefined).apply([
        {
          id: 'evt_1',
          type: 'approval.decided',
          org: 'org_1',
          hydrated: false,
          object: { object: 'approval', id: 'apr_1' },
        },
      ]),
  ],
])('%s reads the card again, and no row of the queue', async (_what, change) => {
  // The client of the API takes the origin of the page when it is loaded, so it is imported after that is set.
  const { approvalQuery, askedQuery } = await import('./queries.ts');
  const queries = new QueryClient();
  const kept = [approvalQuery('apr_1'), askedQuery('apr_1'), askedQuery('apr_2')];
  for (const { queryKey, meta } of kept) {
    queries.getQueryCache().build(queries, { queryKey: [...queryKey], meta: meta ?? {} });
    queries.setQueryData<object>([...queryKey], {});
  }
  change(queries);
  expect(kept.map(({ queryKey }) => queries.getQueryState([...queryKey])?.isInvalidated)).toEqual([true, false, false]);
});
