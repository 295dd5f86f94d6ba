import { QueryClient } from '@tanstack/react-query';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

const ROWS = 250;
/** More than are read of any list. */
const TOO_MANY = 10_001;

/** How many rows every list has. */
let rows = ROWS;

/** Answers every list with its rows, a hundred at most on a page, as the API does. */
const answer = (request: Request): Response => {
  const { pathname, searchParams } = new URL(request.url);
  const from = Number(searchParams.get('cursor') ?? 0);
  const until = Math.min(rows, from + Number(searchParams.get('limit') ?? 50));
  const data = Array.from({ length: until - from }, (_, index) => ({ id: `${pathname}#${from + index}` }));
  const hasMore = until < rows;
  return Response.json({ object: 'list', data, has_more: hasMore, next_cursor: hasMore ? String(until) : null });
};

beforeAll(() => {
  vi.stubGlobal('location', { origin: 'http://console.test' });
  vi.stubGlobal('fetch', (request: Request) => Promise.resolve(answer(request)));
});
afterEach(() => {
  rows = ROWS;
});
afterAll(() => void vi.unstubAllGlobals());

type Read = () => Promise<unknown>;

const answerOf = async (read: Read) => {
  const { queryKey, queryFn } = (await read()) as {
    readonly queryKey: readonly unknown[];
    readonly queryFn: () => Promise<{ readonly data: readonly { readonly id: string }[] }>;
  };
  return new QueryClient().query({ queryKey, queryFn });
};

// The client of the API takes the origin of the page when it is loaded, so its modules are imported after that is set.
describe('names and budgets', () => {
  it.each<[what: string, read: Read]>([
    ['agents', async () => (await import('../agents/queries.ts')).everyAgent],
    ['active agents', async () => (await import('../agents/queries.ts')).activeAgents],
    ['connectors', async () => (await import('../connectors/queries.ts')).everyConnector],
    ['policies', async () => (await import('../policies/queries.ts')).everyPolicy],
    ['people', async () => (await import('../kernel/queries.ts')).everyMember],
    ['admin keys', async () => (await import('../people/queries.ts')).everyAdminKey],
  ])('of the 250th of %s are found', async (_what, read) => {
    const { data } = await answerOf(read);
    expect(data.length).toBe(ROWS);
    expect(data.at(-1)?.id).toMatch(/#249$/);
  });
});

describe('a list of more rows than are read of any', () => {
  it.each<[what: string, says: RegExp, read: Read]>([
    [
      'active agents, which the Stop dialog counts',
      /^There are more than 10,000 active agents.*Stop all of them/,
      async () => (await import('../agents/queries.ts')).activeAgents,
    ],
    [
      'admin keys, of which those without a check are revoked',
      /^There are more than 10,000 admin keys.*keep_keys/,
      async () => (await import('../people/queries.ts')).everyAdminKey,
    ],
  ])('is an error for %s', async (_what, says, read) => {
    rows = TOO_MANY;
    await expect(answerOf(read)).rejects.toThrow(says);
  });
});
