import { QueryClient, type QueryKey, type QueryMeta } from '@tanstack/react-query';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LiveCache } from '../kernel/live-cache.ts';
import { invalidate } from '../kernel/refresh.ts';

beforeAll(() => void vi.stubGlobal('location', { origin: 'http://console.test' }));
afterAll(() => void vi.unstubAllGlobals());

interface Kept {
  readonly queryKey: QueryKey;
  readonly meta: QueryMeta | undefined;
}

/** The queries of a policy's page, all of them read. */
const shown = async (queries: QueryClient) => {
  // The client of the API takes the origin of the page when it is loaded, so it is imported after that is set.
  const { languageQuery, slotsQuery, versionPages, versionQuery } = await import('./queries.ts');
  const { queryKey, isStill } = versionPages('pol_1');
  const kept: Record<string, Kept> = {
    slots: { queryKey: slotsQuery.queryKey, meta: slotsQuery.meta },
    versions: { queryKey, meta: { isStill } },
    version: { queryKey: versionQuery('pol_1', '1').queryKey, meta: versionQuery('pol_1', '1').meta },
    language: { queryKey: languageQuery.queryKey, meta: languageQuery.meta },
  };
  for (const each of Object.values(kept)) {
    queries.getQueryCache().build(queries, { queryKey: each.queryKey, meta: each.meta ?? {} });
    queries.setQueryData(each.queryKey, {});
  }
  /** The names of those that are stale. */
  return (): readonly string[] =>
    Object.keys(kept).filter((name) => queries.getQueryState(kept[name]?.queryKey ?? [])?.isInvalidated === true);
};

describe('on the page of a policy', () => {
  it('an activation by somebody else moves no row of the versions, and reads no text again', async () => {
    const queries = new QueryClient();
    const stale = await shown(queries);
    const object = { object: 'policy', id: 'pol_1' };
    new LiveCache(queries, () => undefined).apply([
      { id: 'evt_1', type: 'policy.activated', org: 'org_1', hydrated: false, object },
    ]);
    expect(stale()).toEqual(['slots']);
  });

  it('a change of this person reads all again, but for the language', async () => {
    const queries = new QueryClient();
    const stale = await shown(queries);
    invalidate(queries, ['policies']);
    expect(stale()).toEqual(['slots', 'versions', 'version']);
  });
});
