import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { type Context, keyOf, LIST } from './keys.ts';
import type { LiveEvent } from './live-events.ts';
import { stageOf, Throttle } from './live-events.ts';

/** One page of a list. */
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

/**
 * Which contexts an event makes stale, by its type. What stands still (`isStill`) is not read again: the rows of such a
 * list are patched, and new rows are only announced.
 */
const STALE: readonly (readonly [RegExp, readonly Context[]])[] = [
  [/^action\./, ['actions', 'overview', 'org']],
  [/^approval\./, ['approvals', 'overview', 'actions']],
  [/^deed\./, ['actions']],
  [/^agent\./, ['agents', 'overview']],
  [/^org\./, ['org', 'me', 'overview']],
  [/^policy\./, ['policies']],
  [/^connector\./, ['connectors', 'tools']],
  [/^decoder\./, ['connectors', 'overview']],
];

/**
 * What no event of its own tells of, and each change of which seals an admin deed: a person's change of a connector, and
 * what its server has changed. The deed's event does not say what it is about, so each of them makes all of this stale.
 */
const STALE_BY_ADMIN_DEED: readonly Context[] = ['connectors', 'tools'];

/** The organization's status after an event. */
const STATUS_BY: Readonly<Record<string, 'active' | 'stopped'>> = {
  'org.stopped': 'stopped',
  'org.started': 'active',
};

/** Events that tell of a row which a list does not have yet, and the context of that list. */
const NEW: Readonly<Record<string, Context>> = {
  'action.created': 'actions',
  'deed.sealed': 'deeds',
  'approval.requested': 'approvals',
};

/** The lists whose rows are objects of events. */
const PATCHED: readonly unknown[] = ['actions', 'approvals'] satisfies readonly Context[];

/** Applies the events of the stream to the cached queries that the screens show. */
export class LiveCache {
  private readonly throttles = new Map<Context, Throttle>();
  /** Objects of the last 30 seconds' events: the answer to a list that was asked for before may not know them yet. */
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
      // Set without waiting for the read, which may fail while the organization is stopped or its session changes.
      if (status !== undefined)
        this.queries.setQueryData<object>(keyOf('/v1/org', {}), (org) => org && { ...org, status });
      for (const [pattern, contexts] of STALE)
        if (pattern.test(type)) contexts.forEach((context) => this.invalidate(context));
      if (type === 'deed.sealed' && object['kind'] === 'admin')
        STALE_BY_ADMIN_DEED.forEach((context) => this.invalidate(context));
      const list = NEW[type];
      if (list !== undefined) news.set(list, (news.get(list) ?? 0) + 1);
    }
    for (const [list, count] of news) this.onNew(list, count);
  }

  /** The rows of a list that was just read, with the state of a later event where an event has told of one. */
  freshen<Row extends Identified>(rows: readonly Row[]): readonly Row[] {
    return rows.map((row) => laterOf(row, this.lately.get(row.id)?.object));
  }

  /** Reads all visible queries again, lists too. */
  refetchVisible(): void {
    void this.queries.invalidateQueries({ refetchType: 'active' });
  }

  private patch(id: string, object: LiveEvent['object']): void {
    const nowMs = performance.now();
    for (const [known, { atMs }] of this.lately) if (nowMs - atMs > KEPT_MS) this.lately.delete(known);
    this.lately.set(id, { object: laterOf(object, this.lately.get(id)?.object), atMs: nowMs });
    this.queries.setQueriesData<InfiniteData<Page<Identified>>>(
      { predicate: ({ queryKey }) => PATCHED.includes(queryKey[0]) && queryKey[3] === LIST },
      (data) => data && { ...data, pages: data.pages.map((page) => patched(page, id, object)) },
    );
  }

  private invalidate(context: Context): void {
    const known = this.throttles.get(context);
    const throttle =
      known ??
      new Throttle(
        () =>
          void this.queries.invalidateQueries({
            predicate: ({ queryKey, meta }) => queryKey[0] === context && meta?.['isStill'] !== true,
          }),
        INVALIDATE_EVERY_MS,
        () => performance.now(),
      );
    if (known === undefined) this.throttles.set(context, throttle);
    throttle.want();
  }
}

/**
 * The action's end, if an approval ended without a run: then the action itself has no event, and ends with the status
 * of its approval.
 */
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

/**
 * The row with the object's fields, unless the row is at a later stage. Fields that only the row has, such as `you` of
 * an approval, stay.
 */
const laterOf = <Row extends object>(row: Row, object: LiveEvent['object'] | undefined): Row =>
  object === undefined || stageOf(object) < stageOf(row as LiveEvent['object']) ? row : { ...row, ...object };
