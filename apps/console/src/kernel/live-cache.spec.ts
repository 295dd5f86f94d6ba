import { QueryClient } from '@tanstack/react-query';
import { beforeEach, describe, expect, it } from 'vitest';
import { keyOf, LIST } from './keys.ts';
import { LiveCache, type Page } from './live-cache.ts';
import type { LiveEvent } from './live-events.ts';

interface Row {
  readonly object: string;
  readonly id: string;
  readonly state: string;
  readonly own?: string;
}

let queries: QueryClient;
let cache: LiveCache;
let news: [list: string, count: number][];

beforeEach(() => {
  queries = new QueryClient();
  news = [];
  cache = new LiveCache(queries, (list, count) => news.push([list, count]));
});

const action = (id: string, state: string): Row => ({ object: 'action', id, state });

let events = 0;
const event = (type: string, object: object, hydrated = true): LiveEvent => ({
  id: `evt_${(events += 1)}`,
  type,
  org: 'org_1',
  hydrated,
  object: object as LiveEvent['object'],
});

/** Puts a list with these rows into the cache, under its filters. */
const shown = (filters: object, ...rows: readonly Row[]): void => {
  const page: Page<Row> = { data: rows, has_more: false, next_cursor: null };
  queries.setQueryData(listKey(filters), { pages: [page], pageParams: [undefined] });
};
const listKey = (filters: object) => keyOf('/v1/actions', { query: filters }, LIST);
const rowsOf = (filters: object): readonly Row[] | undefined =>
  queries.getQueryData<{ pages: Page<Row>[] }>(listKey(filters))?.pages[0]?.data;

const ORG = keyOf('/v1/org', {});
const isStale = (key: readonly unknown[]): boolean | undefined => queries.getQueryState(key)?.isInvalidated;

describe('the status of the organization', () => {
  it.each([
    ['org.stopped', 'stopped'],
    ['org.started', 'active'],
  ])('is told by %s, before anything is read again', (type, status) => {
    queries.setQueryData(ORG, { name: 'Nordlicht', status: '?' });
    cache.apply([event(type, { object: 'organization', id: 'org_1' }, false)]);
    expect(queries.getQueryData(ORG)).toEqual({ name: 'Nordlicht', status });
  });

  it('stays unknown if the organization was never read', () => {
    cache.apply([event('org.stopped', { object: 'organization', id: 'org_1' }, false)]);
    expect(queries.getQueryData(ORG)).toBeUndefined();
  });
});

describe('an event of the stream', () => {
  it('changes the rows of every list in place, and adds no row', () => {
    shown({}, action('act_1', 'executing'), action('act_2', 'sealed'));
    shown({ tool: 'a.b' }, action('act_2', 'sealed'));
    cache.apply([
      event('action.witnessed', action('act_1', 'sealed')),
      event('action.created', action('act_3', 'executing')),
    ]);
    expect(rowsOf({})).toEqual([action('act_1', 'sealed'), action('act_2', 'sealed')]);
    expect(rowsOf({ tool: 'a.b' })).toEqual([action('act_2', 'sealed')]);
    expect(news).toEqual([['actions', 1]]);
  });

  it('keeps the fields of a row that the event does not have', () => {
    shown({}, { ...action('act_1', 'executing'), own: 'you' });
    cache.apply([event('action.witnessed', action('act_1', 'sealed'))]);
    expect(rowsOf({})).toEqual([{ ...action('act_1', 'sealed'), own: 'you' }]);
  });

  it('never sets a row back to an earlier state', () => {
    shown({}, action('act_1', 'sealed'));
    cache.apply([event('action.decided', action('act_1', 'executing'))]);
    expect(rowsOf({})).toEqual([action('act_1', 'sealed')]);
  });

  it('is applied to the answer of a list that was being read when it came', () => {
    cache.apply([
      event('action.witnessed', action('act_1', 'sealed')),
      event('action.decided', action('act_1', 'executing')),
    ]);
    expect(cache.freshen([action('act_1', 'executing'), action('act_2', 'executing')])).toEqual([
      action('act_1', 'sealed'),
      action('act_2', 'executing'),
    ]);
  });

  it('changes no row if it is not hydrated: a thin object lacks most fields', () => {
    shown({}, action('act_1', 'executing'));
    cache.apply([event('action.witnessed', { object: 'action', id: 'act_1', state: 'sealed' }, false)]);
    expect(rowsOf({})).toEqual([action('act_1', 'executing')]);
  });

  it('ends an action with the status of its approval: an action that does not run has no event of its own', () => {
    shown({}, action('act_1', 'pending_approval'), action('act_2', 'pending_approval'));
    const approval = (id: string, status: string) => ({
      object: 'approval',
      id: `apr_${id}`,
      action: `act_${id}`,
      status,
    });
    cache.apply([
      event('approval.decided', approval('1', 'denied')),
      event('approval.decided', approval('2', 'approved')),
    ]);
    expect(rowsOf({})).toEqual([
      { ...action('act_1', 'recorded'), status: 'denied' },
      action('act_2', 'pending_approval'),
    ]);
  });

  it('has tools read again whose server has changed them, with their connectors', () => {
    const [connectors, tools] = [keyOf('/v1/connectors', {}), keyOf('/v1/tools', {})];
    for (const key of [connectors, tools, ORG]) queries.setQueryData(key, {});
    cache.apply([event('connector.tools_changed', { object: 'connector', id: 'con_1' }, false)]);
    expect([connectors, tools, ORG].map(isStale)).toEqual([true, true, false]);
  });

  it.each(['decoder.degraded', 'decoder.recovered', 'decoder.alert'])(
    'of a witness has connectors and the overview read again: %s',
    (type) => {
      const [connector, overview] = [
        keyOf('/v1/connectors/{id}', { path: { id: 'con_1' } }),
        keyOf('/v1/overview', {}),
      ];
      for (const key of [connector, overview, ORG]) queries.setQueryData(key, {});
      cache.apply([event(type, { object: 'decoder', id: 'con_1', connector: 'con_1', status: 'down' }, false)]);
      expect([connector, overview, ORG].map(isStale)).toEqual([true, true, false]);
    },
  );

  it('makes the contexts that it is about stale, and no other', () => {
    const members = keyOf('/v1/org/members', {});
    queries.setQueryData(ORG, { status: 'active' });
    queries.setQueryData(members, []);
    cache.apply([event('org.stopped', { object: 'org', id: 'org_1', status: 'stopped' }, false)]);
    expect([isStale(ORG), isStale(members)]).toEqual([true, false]);
  });

  it('of an admin deed makes connectors stale, and one of an action’s deed does not', () => {
    const connector = keyOf('/v1/connectors/{id}', { path: { id: 'con_1' } });
    queries.setQueryData(connector, {});
    const deed = (kind: string) => event('deed.sealed', { object: 'deed_summary', id: 'deed_1', kind });
    cache.apply([deed('action'), deed('amendment')]);
    expect(isStale(connector)).toBe(false);
    cache.apply([deed('admin')]);
    expect(isStale(connector)).toBe(true);
  });

  it('leaves what stands still as it is, and reads the rest of its context again', () => {
    const one = keyOf('/v1/actions/{id}', { path: { id: 'act_1' } });
    queries.setQueryData(one, {});
    queries.getQueryCache().build(queries, { queryKey: listKey({}), meta: { isStill: true } });
    shown({}, action('act_1', 'executing'));
    cache.apply([event('action.decided', action('act_1', 'executing'))]);
    expect([isStale(one), isStale(listKey({}))]).toEqual([true, false]);
  });

  it('patches lists only: another query of the same context has no pages', () => {
    const one = keyOf('/v1/actions/{id}', { path: { id: 'act_1' } });
    queries.setQueryData(one, action('act_1', 'executing'));
    cache.apply([event('action.witnessed', action('act_1', 'sealed'))]);
    expect(queries.getQueryData(one)).toEqual(action('act_1', 'executing'));
  });
});
