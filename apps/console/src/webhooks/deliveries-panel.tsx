import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { placeOfId, useFilters } from '../kernel/address.ts';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useList } from '../kernel/lists.ts';
import type { Page } from '../kernel/live-cache.ts';
import { shortId } from '../kernel/said.ts';
import { Failure } from '../kit/failure.tsx';
import { ChoiceChip } from '../kit/filters.tsx';
import { Bones, Button, Id, None, Panel, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot, NewRows } from '../kit/list-foot.tsx';
import { countOfNew, type DeliveryRow, refreshed, rowOf } from './deliveries.ts';
import { deliveriesKey, deliveryPages } from './queries.ts';
import { DELIVERY_CHOICES, DeliveryBadge } from './webhook-badge.tsx';
import { answerInWords, isOver } from './webhook-words.ts';
import styles from './webhooks.module.css';

const LOOK_EVERY_MS = 5_000;

const newestRows = async (id: string, status: string | null): Promise<readonly DeliveryRow[]> =>
  (await deliveryPages(id, status).read()).body.data;

type Pages = InfiniteData<Page<DeliveryRow>>;

/** Returns a function that updates deliveries in the cached lists of all filters. Each row stays in its place. */
const useRefresh = (id: string) => {
  const queries = useQueryClient();
  return useCallback(
    (latest: readonly DeliveryRow[]): void =>
      void queries.setQueriesData<Pages>({ queryKey: deliveriesKey(id) }, (pages) => pages && refreshed(pages, latest)),
    [queries, id],
  );
};

/**
 * Reads the newest deliveries every five seconds while the page is visible, and updates the shown rows in place, even
 * those that no longer match the filter.
 * @returns the newest deliveries that match the filter, whether the list shows them or not
 */
const useLatest = (id: string, status: string | null): readonly DeliveryRow[] => {
  const refresh = useRefresh(id);
  const [newest, setNewest] = useState<{ readonly of: string | null; readonly rows: readonly DeliveryRow[] } | null>(
    null,
  );
  useEffect(() => {
    let isGone = false;
    const look = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return;
      const reads = status === null ? [newestRows(id, null)] : [newestRows(id, status), newestRows(id, null)];
      // A failed read is ignored, because the next one follows soon, and a press of a button shows errors.
      const [fitting, all = fitting] = await Promise.all(reads).catch(() => []);
      if (isGone || fitting === undefined || all === undefined) return;
      refresh([...fitting, ...all]);
      setNewest({ of: status, rows: fitting });
    };
    const timer = setInterval(() => void look(), LOOK_EVERY_MS);
    return () => {
      isGone = true;
      clearInterval(timer);
    };
  }, [refresh, id, status]);
  return newest?.of === status ? newest.rows : [];
};

/** The deliveries of a webhook, newest first, each with the result of its last attempt and the time of the next. */
export const Deliveries = ({ webhook }: { readonly webhook: Schemas['Webhook'] }) => {
  const { filters } = useFilters();
  const status = filters.get('status');
  const list = useList(deliveryPages(webhook.id, status));
  const { rows, error, isPending, refetch } = list;
  const newest = useLatest(webhook.id, status);
  return (
    <Panel
      title="Deliveries"
      aside={
        <div className={kit['chips']}>
          <NewRows
            count={isPending ? 0 : countOfNew(rows, newest)}
            what="deliveries"
            isFiltered={status !== null}
            onShow={list.showNew}
          />
          <ChoiceChip name="status" choices={DELIVERY_CHOICES} />
        </div>
      }
    >
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {isPending && error === null ? <Bones count={3} /> : null}
      {rows.length === 0 && !isPending && error === null ? <NoDelivery isFiltered={status !== null} /> : null}
      {rows.length === 0 ? null : <Table rows={rows} isActive={webhook.status === 'active'} />}
      <ListFoot {...list} />
    </Panel>
  );
};

const NoDelivery = ({ isFiltered }: { readonly isFiltered: boolean }) => {
  const { clear } = useFilters();
  if (!isFiltered)
    return (
      <p className={kit['dim']}>
        No deliveries yet. The next event that this webhook subscribes to is delivered here. Send a test to see whether
        your receiver answers.
      </p>
    );
  return (
    <>
      <p className={kit['dim']}>No deliveries match this filter.</p>
      <div className={kit['foot']}>
        <Button onClick={clear}>Clear filter</Button>
      </div>
    </>
  );
};

const Table = ({ rows, isActive }: { readonly rows: readonly DeliveryRow[]; readonly isActive: boolean }) => (
  <table className={kit['table']}>
    <thead>
      <tr>
        <th scope="col">Event</th>
        <th scope="col">Status</th>
        <th scope="col">Attempts</th>
        <th scope="col">Last answer</th>
        <th scope="col">Next attempt, or delivered</th>
        <th scope="col">
          <span className="visually-hidden">Actions</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <Row key={row.id} row={row} isActive={isActive} />
      ))}
    </tbody>
  </table>
);

const Row = ({ row, isActive }: { readonly row: DeliveryRow; readonly isActive: boolean }) => (
  <tr>
    <td className={styles['where']}>
      <code>{row.type}</code>
      <small>
        <Id id={row.event} /> <Time at={row.created_at} />
      </small>
      <About id={row.about.id} />
    </td>
    <td data-end>
      <DeliveryBadge status={row.status} />
    </td>
    <td data-hide className={kit['number']}>
      {row.attempt}
    </td>
    <td data-wide>
      {answerInWords(row) ?? <None />}
      <span className={styles['onPhone']}>
        {' '}
        after {row.attempt} {row.attempt === 1 ? 'attempt' : 'attempts'}
      </span>
    </td>
    <td>
      <Due row={row} />
    </td>
    <td className={styles['actions']} data-end>
      <SendAgain row={row} isActive={isActive} />
    </td>
  </tr>
);

/** A link to the object of the event, if the Console has a page for it. */
const About = ({ id }: { readonly id: string }) => {
  const place = placeOfId(id);
  return place === null ? null : (
    <small>
      about <Link href={place}>{shortId(id)}</Link>
    </small>
  );
};

const Due = ({ row: { status, next_attempt_at: next, delivered_at: arrived } }: { readonly row: DeliveryRow }) => {
  if (arrived !== null)
    return (
      <>
        <span className={styles['onPhone']}>delivered </span>
        <Time at={arrived} />
      </>
    );
  if (next === null || isOver({ status })) return <None />;
  return (
    <>
      <span className={styles['onPhone']}>next attempt </span>
      <Time at={next} />
    </>
  );
};

/** The button to send a delivery again. Tests have none: a new test is sent instead. */
const SendAgain = ({ row, isActive }: { readonly row: DeliveryRow; readonly isActive: boolean }) => {
  const refresh = useRefresh(row.webhook);
  const again = useChange(
    ({ webhook, event }: { readonly webhook: string; readonly event: string }, key) =>
      bodyOf(
        api.POST('/v1/webhooks/{id}/redeliver', {
          params: { path: { id: webhook }, header: { 'Idempotency-Key': key } },
          body: { event },
        }),
      ),
    (delivery) => refresh([rowOf(delivery)]),
  );
  if (row.type === 'webhook.test' || !isActive || row.status === 'delivering') return null;
  return (
    <>
      <Button
        isSmall
        disabled={again.isPending}
        onClick={() => again.mutate({ webhook: row.webhook, event: row.event })}
      >
        {again.isPending ? 'Sending …' : isOver(row) ? 'Send again' : 'Send now'}
        <span className="visually-hidden"> {row.event}</span>
      </Button>
      {again.error === null ? null : <Failure error={again.error} />}
    </>
  );
};
