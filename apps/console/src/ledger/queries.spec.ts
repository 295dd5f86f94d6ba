import { focusManager, QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';

/** How many of the next requests fail. */
let failures = 0;

beforeAll(() => {
  vi.stubGlobal('location', { origin: 'http://console.test' });
  vi.stubGlobal('fetch', () => {
    failures -= 1;
    const body = { object: 'list', data: [], has_more: false, next_cursor: null };
    return Promise.resolve(failures < 0 ? Response.json(body) : Response.json({}, { status: 503 }));
  });
});
afterEach(() => focusManager.setFocused(undefined));
afterAll(() => void vi.unstubAllGlobals());

// The client of the API takes the origin of the page when it is loaded, so its modules are imported after that is set.
it.each([
  ['admin deeds', async () => (await import('./queries.ts')).adminDeedsBefore('2026-01-01T00:00:00Z')],
  ['policy language', async () => (await import('../policies/queries.ts')).languageQuery],
])('a failed read of the %s is tried again once the window has the focus', async (_what, read) => {
  const { queryKey, queryFn, staleTime } = (await read()) as unknown as {
    readonly queryKey: readonly unknown[];
    readonly queryFn: () => Promise<unknown>;
    readonly staleTime: number;
  };
  failures = 1;
  const queries = new QueryClient({ defaultOptions: { queries: { networkMode: 'always' } } });
  queries.mount();
  const observer = new QueryObserver(queries, { queryKey, queryFn, staleTime, retry: false });
  const end = observer.subscribe(() => undefined);
  await expect.poll(() => observer.getCurrentResult().status).toBe('error');
  focusManager.setFocused(false);
  focusManager.setFocused(true);
  await expect.poll(() => observer.getCurrentResult().status).toBe('success');
  end();
  queries.unmount();
});
