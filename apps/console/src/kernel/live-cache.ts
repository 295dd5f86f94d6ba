import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { LiveEvent } from './live-events.ts';
import { stageOf, Throttle } from './live-events.ts';

/** A page of any list. */
export interface Page<Row> {
  readonly data: readonly Row[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

interface Identified {
  readonly id: string;
}

const INVALIDATE_EVERY_MS = 2_000;
const KEPT_MS = 30_000;

/** What an event makes stale. A list itself never is: its rows are patched, and what is new is offered. */
const STALE: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^action\./, ['action', 'overview', 'org', 'shadow-differs']],
  [/^approval\./, ['approval', 'approval-count', 'overview', 'action']],
  [/^deed\./, ['action']],
  [/^agent\./, ['agents', 'agent', 'overview', 'stop-agents']],
  [/^org\./, ['org', 'me', 'overview']],
  [/^policy\./, ['policy-slots', 'policies', 'policy']],
];

/** What the organization is by an event. */
const STATUS_BY: Readonly<Record<string, 'active' | 'stopped'>> = {
  'org.stopped': 'stopped',
  'org.started': 'active',
};

/** Which events are about something that a list does not have yet, by the key of the list. */
const NEW: Readonly<Record<string, string>> = {
  'action.created': 'actions',
  'deed.sealed': 'deeds',
  'approval.requested': 'approvals',
};

/** Brings what the stream tells into what is shown. */
export class LiveCache {
  private readonly throttles = new Map<string, Throttle>();
  /** What came lately: a list that was asked for before may not know it yet. */
  private readonly lately = new Map<string, { readonly object: LiveEvent['object']; readonly atMs: number }>();

  constructor(
    private readonly queries: QueryClient,
    private readonly onNew: (list: string, count: number) => void,
  ) {}

  apply(events: readonly LiveEvent[]): void {
    const news = new Map<string, number>();
    for (const { type, hydrated, object } of events) {
      if (hydrated && typeof object['id'] === 'string') this.patch(object['id'], object);
      const ended = endedBy(type, object);
      if (ended !== null) this.patch(ended.id, ended);
      const status = STATUS_BY[type];
      // Told at once, whether it can be read again or not.
      if (status !== undefined) this.queries.setQueryData<object>(['org'], (org) => org && { ...org, status });
      for (const [pattern, keys] of STALE) if (pattern.test(type)) keys.forEach((key) => this.invalidate(key));
      const list = NEW[type];
      if (list !== undefined) news.set(list, (news.get(list) ?? 0) + 1);
    }
    for (const [list, count] of news) this.onNew(list, count);
  }

  /** Rows of a list as it was read, each as far on as an event has told meanwhile. */
  freshen<Row extends Identified>(rows: readonly Row[]): readonly Row[] {
    return rows.map((row) => laterOf(row, this.lately.get(row.id)?.object));
  }

  /** Everything that is shown, lists and all. */
  refetchVisible(): void {
    void this.queries.invalidateQueries({ refetchType: 'active' });
  }

  private patch(id: string, object: LiveEvent['object']): void {
    const nowMs = performance.now();
    for (const [known, { atMs }] of this.lately) if (nowMs - atMs > KEPT_MS) this.lately.delete(known);
    this.lately.set(id, { object: laterOf(object, this.lately.get(id)?.object), atMs: nowMs });
    this.queries.setQueriesData<InfiniteData<Page<Identified>>>(
      { predicate: ({ queryKey }) => queryKey[0] === 'actions' || queryKey[0] === 'approvals' },
      (data) => data && { ...data, pages: data.pages.map((page) => patched(page, id, object)) },
    );
  }

  private invalidate(key: string): void {
    const known = this.throttles.get(key);
    const throttle =
      known ??
      new Throttle(
        () => void this.queries.invalidateQueries({ queryKey: [key] }),
        INVALIDATE_EVERY_MS,
        () => performance.now(),
      );
    if (known === undefined) this.throttles.set(key, throttle);
    throttle.want();
  }
}

/** What does not run after people were asked has no event of its own: it ended as its approval did. */
const endedBy = (type: string, { action, status }: LiveEvent['object']) =>
  type === 'approval.decided' &&
  typeof action === 'string' &&
  ['denied', 'expired', 'cancelled'].includes(String(status))
    ? { object: 'action', id: action, state: 'recorded', status }
    : null;

const patched = (page: Page<Identified>, id: string, object: LiveEvent['object']): Page<Identified> => {
  if (!page.data.some((row) => row.id === id)) return page;
  return { ...page, data: page.data.map((row) => (row.id === id ? laterOf(row, object) : row)) };
};

/** What a row shows that the event's object does not have (`you` of an approval) stays. */
const laterOf = <Row extends object>(row: Row, object: LiveEvent['object'] | undefined): Row =>
  object === undefined || stageOf(object) < stageOf(row as LiveEvent['object']) ? row : { ...row, ...object };
