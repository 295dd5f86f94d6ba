import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { useNames } from '../kernel/members.ts';
import { useWaitingApprovals } from '../kernel/waiting.ts';
import { ApprovalBadge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Id, Said, Time } from '../kit/kit.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import styles from './approvals.module.css';
import { Card } from './card.tsx';
import { Decide } from './decide.tsx';

/** One call that waits, all of it, and the two buttons. */
export const ApprovalScreen = ({ id }: { readonly id: string }) => {
  const [seenDigest, setSeenDigest] = useState<string | null>(null);
  const {
    data: approval,
    error,
    refetch,
  } = useQuery({
    queryKey: ['approval', id],
    queryFn: () => bodyOf(api.GET('/v1/approvals/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 10_000 : false),
  });
  if (approval === undefined) {
    return (
      <>
        <ScreenHead title="Approval" />
        {error === null ? <Bones /> : <Failure error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  return (
    <>
      {approval.status === 'pending' ? null : <Outcome approval={approval} />}
      <Card approval={approval} onSeen={setSeenDigest} />
      {approval.status === 'pending' ? (
        <Decide approval={approval} seenDigest={seenDigest} onAnswer={() => refetch()} />
      ) : null}
    </>
  );
};

/** Who said what, and what is to be read next. */
const Outcome = ({ approval }: { readonly approval: Schemas['Approval'] }) => {
  const nameOf = useNames();
  const { data: waiting } = useWaitingApprovals();
  const next = waiting?.data.find(({ id, you }) => id !== approval.id && you?.eligible === true);
  const by = approval.decided_by;
  return (
    <div className={styles['outcome']} role="status">
      <p>
        <ApprovalBadge status={approval.status} />{' '}
        {by?.id === null || by?.id === undefined ? null : (
          <>
            by <Said text={by.type === 'user' ? nameOf(by.id) : by.type} />{' '}
          </>
        )}
        {approval.decided_at === null ? null : <Time at={approval.decided_at} />}
      </p>
      {approval.reason === null ? null : (
        <p>
          Reason: <Said text={approval.reason} />
        </p>
      )}
      <p>
        <Link href={`/actions/${approval.action}`}>The action</Link> <Id id={approval.action} />
        {next === undefined ? null : (
          <>
            {' · '}
            <Link href={`/approvals/${next.id}`}>
              Next: <Said text={next.tool} />
            </Link>
          </>
        )}
      </p>
    </div>
  );
};
