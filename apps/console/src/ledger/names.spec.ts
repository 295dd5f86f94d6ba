import { QueryClient } from '@tanstack/react-query';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const ROWS = 250;

/** Answers every list with 250 rows, a hundred at most on a page, as the API does. */
const answer = (request: Request): Response => {
  const { pathname, searchParams } = new URL(request.url);
  const from = Number(searchParams.get('cursor') ?? 0);
  const until = Math.min(ROWS, from + Number(searchParams.get('limit') ?? 50));
  const data = Array.from({ length: until - from }, (_, index) => ({ id: `${pathname}#${from + index}` }));
  const hasMore = until < ROWS;
  return Response.json({ object: 'list', data, has_more: hasMore, next_cursor: hasMore ? String(until) : null });
};

beforeAll(() => {
  vi.stubGlobal('location', { origin: 'http://console.test' });
  vi.stubGlobal('fetch', (request: Request) => Promise.resolve(answer(request)));
});
afterAll(() => void vi.unstubAllGlobals());

// The client of the API takes the origin of the page when it is loaded, so its modules are imported after that is set.
describe('names and budgets', () => {
  it.each([
    ['agents', async () => (await import('../agents/queries.ts')).everyAgent],
    ['active agents', async () => (await import('../agents/queries.ts')).activeAgents],
    ['connectors', async () => (await import('../connectors/queries.ts')).everyConnector],
    ['policies', async () => (await import('../policies/queries.ts')).everyPolicy],
    ['people', async () => (await import('../kernel/queries.ts')).everyMember],
    ['admin keys', async () => (await import('../people/queries.ts')).everyAdminKey],
  ])('of the 250th of %s are found', async (_what, read) => {
    const { queryKey, queryFn } = (await read()) as unknown as {
      readonly queryKey: readonly unknown[];
      readonly queryFn: () => Promise<{ readonly data: readonly { readonly id: string }[] }>;
    };
    const { data } = await new QueryClient().query({ queryKey, queryFn });
    expect(data.length).toBe(ROWS);
    expect(data.at(-1)?.id).toMatch(/#249$/);
  });
});
