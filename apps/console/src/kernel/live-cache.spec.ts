import { QueryClient } from '@tanstack/react-query';
import { beforeEach, describe, expect, it } from 'vitest';
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

/** A list as it stands, by its filters. */
const shown = (filters: object, ...rows: readonly Row[]): void => {
  const page: Page<Row> = { data: rows, has_more: false, next_cursor: null };
  queries.setQueryData(['actions', filters], { pages: [page], pageParams: [undefined] });
};
const rowsOf = (filters: object): readonly Row[] | undefined =>
  queries.getQueryData<{ pages: Page<Row>[] }>(['actions', filters])?.pages[0]?.data;

describe('what the organization is', () => {
  it.each([
    ['org.stopped', 'stopped'],
    ['org.started', 'active'],
  ])('is told by %s, before anything is read again', (type, status) => {
    queries.setQueryData(['org'], { name: 'Nordlicht', status: '?' });
    cache.apply([event(type, { object: 'organization', id: 'org_1' }, false)]);
    expect(queries.getQueryData(['org'])).toEqual({ name: 'Nordlicht', status });
  });

  it('stays unknown where it was never read', () => {
    cache.apply([event('org.stopped', { object: 'organization', id: 'org_1' }, false)]);
    expect(queries.getQueryData(['org'])).toBeUndefined();
  });
});

describe('what the stream tells', () => {
  it('changes the rows that stand, in every list, and puts none where another stood', () => {
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

  it('keeps what a row has and the event does not', () => {
    shown({}, { ...action('act_1', 'executing'), own: 'you' });
    cache.apply([event('action.witnessed', action('act_1', 'sealed'))]);
    expect(rowsOf({})).toEqual([{ ...action('act_1', 'sealed'), own: 'you' }]);
  });

  it('never brings a state back', () => {
    shown({}, action('act_1', 'sealed'));
    cache.apply([event('action.decided', action('act_1', 'executing'))]);
    expect(rowsOf({})).toEqual([action('act_1', 'sealed')]);
  });

  it('is applied again to a list that was being read meanwhile', () => {
    cache.apply([
      event('action.witnessed', action('act_1', 'sealed')),
      event('action.decided', action('act_1', 'executing')),
    ]);
    expect(cache.freshen([action('act_1', 'executing'), action('act_2', 'executing')])).toEqual([
      action('act_1', 'sealed'),
      action('act_2', 'executing'),
    ]);
  });

  it('changes no row where it was not hydrated: a thin object says too little', () => {
    shown({}, action('act_1', 'executing'));
    cache.apply([event('action.witnessed', { object: 'action', id: 'act_1', state: 'sealed' }, false)]);
    expect(rowsOf({})).toEqual([action('act_1', 'executing')]);
  });

  it('ends an action as its approval ended: what does not run has no event of its own', () => {
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

  it('makes stale what is not a list', () => {
    queries.setQueryData(['org'], { status: 'active' });
    queries.setQueryData(['members'], []);
    cache.apply([event('org.stopped', { object: 'org', id: 'org_1', status: 'stopped' }, false)]);
    expect(queries.getQueryState(['org'])?.isInvalidated).toBe(true);
    expect(queries.getQueryState(['members'])?.isInvalidated).toBe(false);
  });
});
