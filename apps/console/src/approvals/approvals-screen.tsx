import { Link } from 'wouter';
import { answerOf, api, type Schemas } from '../kernel/client.ts';
import { useFilteredList } from '../kernel/filtered-list.ts';
import { ApprovalBadge, EffectBadge } from '../kit/badges.tsx';
import { ChoiceChip, GivenChip } from '../kit/filters.tsx';
import { Empty, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFrame } from '../kit/list-frame.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { useWaiting } from '../shell/shell.tsx';
import styles from './approvals.module.css';
import { TimeLeft } from './time-left.tsx';

const FILTERS = ['status', 'action', 'agent', 'tool'] as const;

/** What waits for people, what runs out first on top. */
export const ApprovalsScreen = () => {
  const waiting = useWaiting();
  const list = useFilteredList('approvals', FILTERS, (query) =>
    answerOf(api.GET('/v1/approvals', { params: { query } })),
  );
  return (
    <>
      <ScreenHead
        title={waiting === null ? 'Approvals' : `(${waiting}) Approvals`}
        name="Approvals"
        about="Calls that wait for a person. What runs out first stands on top."
      />
      <ListFrame list={list} one="approval" chips={<Chips />} bones={4} none={<NothingWaits />}>
        <ul className={styles['queue']}>
          {list.rows.map((approval) => (
            <QueueRow key={approval.id} approval={approval} />
          ))}
        </ul>
      </ListFrame>
    </>
  );
};

const Chips = () => (
  <>
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
  </>
);

const NothingWaits = () => (
  <Empty title="Nothing waits for a person">
    A rule of the policy with <code>decision: require_approval</code> lets a call wait here until somebody has read it
    and said yes or no.
  </Empty>
);

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
