import { Link } from 'wouter';
import { useQueryClient } from '@tanstack/react-query';
import { useFilters } from '../kernel/address.ts';
import { answerOf, api, type Schemas } from '../kernel/client.ts';
import { PAGE_SIZE, useList } from '../kernel/lists.ts';
import { useLive } from '../kernel/live-provider.tsx';
import { ApprovalBadge, EffectBadge } from '../kit/badges.tsx';
import { Failure, Lag } from '../kit/failure.tsx';
import { ChoiceChip, GivenChip } from '../kit/filters.tsx';
import { Bones, cx, Empty, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot, NewRows } from '../kit/list-foot.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { useWaiting } from '../shell/shell.tsx';
import styles from './approvals.module.css';
import { TimeLeft } from './time-left.tsx';

const FILTERS = ['status', 'action', 'agent', 'tool'] as const;

/** What waits for people, what runs out first on top. */
export const ApprovalsScreen = () => {
  const { filters } = useFilters();
  const queries = useQueryClient();
  const { news } = useLive();
  const waiting = useWaiting();
  const wanted = Object.fromEntries(FILTERS.flatMap((name) => (filters.has(name) ? [[name, filters.get(name)]] : [])));
  const list = useList(['approvals', wanted], (cursor) =>
    answerOf(
      api.GET('/v1/approvals', {
        params: { query: { ...wanted, limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  const { rows, error, isPending, refetch } = list;
  return (
    <>
      <ScreenHead
        title={waiting === null ? 'Approvals' : `(${waiting}) Approvals`}
        name="Approvals"
        about="Calls that wait for a person. What runs out first stands on top."
      />
      <div className={cx(kit['chips'], styles['tools'])}>
        <ChoiceChip
          name="status"
          isSingle
          choices={[
            ['approved', 'approved'],
            ['denied', 'denied'],
            ['expired', 'expired'],
            ['cancelled', 'cancelled'],
            ['all', 'all'],
          ]}
        />
        <GivenChip name="agent" label="agent" />
        <GivenChip name="tool" label="tool" />
        <GivenChip name="action" label="action" />
        <NewRows
          count={news['approvals'] ?? 0}
          what="approvals"
          isFiltered={filters.size > 0}
          onShow={() => void queries.resetQueries({ queryKey: ['approvals', wanted] })}
        />
        <Lag events={list.lag} />
      </div>
      {error !== null ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Bones count={4} />
      ) : rows.length === 0 ? (
        <Empty title={filters.size > 0 ? 'No approval fits these filters' : 'Nothing waits for a person'}>
          A rule of the policy with <code>decision: require_approval</code> lets a call wait here until somebody has
          read it and said yes or no.
        </Empty>
      ) : (
        <ul className={cx(kit['panel'], styles['queue'])}>
          {rows.map((approval) => (
            <QueueRow key={approval.id} approval={approval} />
          ))}
        </ul>
      )}
      <div className={styles['foot']}>
        <ListFoot {...list} />
      </div>
    </>
  );
};

const QueueRow = ({ approval }: { readonly approval: Schemas['Approval'] }) => (
  <li>
    <div>
      <Link href={`/approvals/${approval.id}`} className={kit['rowLink'] ?? ''} data-row>
        <Said text={approval.agent.name} /> asks to run{' '}
        <code>
          <Said text={approval.tool} />
        </code>
      </Link>
      <div>
        <small>
          asked <Time at={approval.created_at} />
          {approval.on_behalf_of === null ? null : (
            <>
              {' '}
              on behalf of <Said text={approval.on_behalf_of} />
            </>
          )}
          {approval.rule_id === null ? null : <> by rule {approval.rule_id}</>}
        </small>
      </div>
    </div>
    <div className={styles['queueEnd']}>
      {approval.status === 'pending' ? (
        <TimeLeft until={approval.expires_at} />
      ) : (
        <ApprovalBadge status={approval.status} />
      )}
      <small>
        {approval.countersigned} of {approval.required} signed
        {approval.status === 'pending' && approval.you?.eligible === true ? ', yours to decide' : ''}
      </small>
      {approval.side_effect === 'destructive' ? <EffectBadge effect={approval.side_effect} /> : null}
    </div>
  </li>
);
