import { QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { keyOf } from './keys.ts';
import { invalidate } from './refresh.ts';

const AGENT = keyOf('/v1/agents/{id}', { path: { id: 'agt_1' } });
const KEYS = keyOf('/v1/agents/{id}/keys', { path: { id: 'agt_1' } }, 'every');
const NAMES = keyOf('/v1/agents', {}, 'every');
const POLICIES = keyOf('/v1/policies', {}, 'every');

it('a mutation makes all of the contexts that it names stale, but for the query whose data it told', () => {
  const queries = new QueryClient();
  for (const key of [AGENT, KEYS, NAMES, POLICIES]) queries.setQueryData(key, {});
  invalidate(queries, ['agents'], AGENT);
  const stale = [AGENT, KEYS, NAMES, POLICIES].map((key) => queries.getQueryState(key)?.isInvalidated);
  expect(stale).toEqual([false, true, true, false]);
});
