import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { LIST_APPROVALS_FILTERS } from '../kernel/contract.ts';
import { useFilteredList } from '../kernel/filtered-list.ts';
import { useNames } from '../kernel/members.ts';
import { ApprovalBadge, EffectBadge } from '../kit/badges.tsx';
import { ChoiceChip, GivenChips } from '../kit/filters.tsx';
import { Empty, Money, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFrame } from '../kit/list-frame.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { useWaiting } from '../shell/shell.tsx';
import styles from './approvals.module.css';
import { inShort } from './in-short.ts';
import { approvalPages, askedQuery } from './queries.ts';
import { TimeLeft } from './time-left.tsx';

/** The approvals that wait for people, those that expire first on top. */
export const ApprovalsScreen = () => {
  const waiting = useWaiting();
  const list = useFilteredList(LIST_APPROVALS_FILTERS, approvalPages);
  return (
    <>
      <ScreenHead
        title={waiting === null ? 'Approvals' : `(${waiting}) Approvals`}
        name="Approvals"
        about={
          list.isFiltered
            ? 'Calls that needed approval, by expiry.'
            : 'Calls waiting for approval. The first to expire is on top.'
        }
      />
      <ListFrame list={list} one="approval" chips={<Chips />} bones={4} none={<NothingWaits />}>
        <ul className={styles['queue']}>
          {list.rows.map((approval, index) => (
            <QueueRow key={approval.id} approval={approval} isTold={index < TOLD_ROWS} />
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
    <GivenChips names={LIST_APPROVALS_FILTERS} except={['status']} />
  </>
);

const NothingWaits = () => (
  <Empty title="No calls waiting for approval">
    A rule of the policy with <code>decision: require_approval</code> holds a call here until a person approves or
    denies it. <Link href="/policies">See the policies</Link>
  </Empty>
);

/** This many rows show the arguments of their call. The list does not have them, so each row reads its approval. */
const TOLD_ROWS = 20;

/** The cost and the arguments of a call, which tell it from other calls of the same tool. */
const useAsked = ({ id }: Schemas['Approval'], isWanted: boolean) =>
  useQuery({
    ...askedQuery(id),
    enabled: isWanted,
    select: ({ cost, context }) => ({ cost, context: context ?? null }),
  }).data;

const QueueRow = ({ approval, isTold }: { readonly approval: Schemas['Approval']; readonly isTold: boolean }) => {
  const asked = useAsked(approval, isTold);
  const title = asked?.context?.tool.title ?? null;
  const args = inShort(asked?.context?.args ?? {}, asked?.context?.amounts);
  return (
    <li>
      <div>
        <Link href={`/approvals/${approval.id}`} className={kit['rowLink'] ?? ''} data-row>
          <Said text={approval.agent.name} /> {approval.status === 'pending' ? 'wants to' : 'wanted to'}{' '}
          {title === null ? 'run' : <Said text={title} />}
          {title === null ? ' ' : ' with '}
          <code>
            <Said text={approval.tool} />
          </code>
        </Link>
        {args === '' ? null : (
          <p className={styles['queueArgs']}>
            {asked?.cost === null || asked?.cost === undefined ? null : <Money {...asked.cost} />} <Said text={args} />
          </p>
        )}
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
      <QueueEnd approval={approval} />
    </li>
  );
};

/** The status of an approval, or the time left to decide. */
const QueueEnd = ({ approval }: { readonly approval: Schemas['Approval'] }) => (
  <div className={styles['queueEnd']}>
    {approval.status === 'pending' ? (
      <TimeLeft until={approval.expires_at} />
    ) : (
      <ApprovalBadge status={approval.status} />
    )}
    {approval.decided_at === null ? null : (
      <small>
        <DecidedBy approval={approval} /> <Time at={approval.decided_at} />
      </small>
    )}
    <small>
      {approval.countersigned} of {approval.required} signed
      {approval.status === 'pending' && approval.you?.eligible === true ? ', waiting for you' : ''}
    </small>
    {approval.side_effect === 'destructive' ? <EffectBadge effect={approval.side_effect} /> : null}
  </div>
);

/** Who decided: a person by name, any other actor by its type. */
const DecidedBy = ({ approval: { decided_by: by } }: { readonly approval: Schemas['Approval'] }) => {
  const nameOf = useNames();
  if (by?.id === null || by?.id === undefined) return <>decided</>;
  return (
    <>
      by <Said text={by.type === 'user' ? nameOf(by.id) : by.type} />
    </>
  );
};
