import { useQuery } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { actionQuery } from '../gate/queries.ts';
import type { Schemas } from '../kernel/client.ts';
import { useNames } from '../kernel/members.ts';
import { ApprovalBadge, EvidenceBadge, StatusBadge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Id, Said, Time } from '../kit/kit.tsx';
import { useSettled } from '../kit/settled.ts';
import { ScreenHead } from '../shell/screen.tsx';
import styles from './approvals.module.css';
import { Card } from './card.tsx';
import { Decide } from './decide.tsx';
import { approvalQuery, useWaitingApprovals } from './queries.ts';

/** One call that waits for approval, in full, with the buttons Deny and Approve. */
export const ApprovalScreen = ({ id }: { readonly id: string }) => {
  const [seenDigest, setSeenDigest] = useState<string | null>(null);
  const {
    data: approval,
    error,
    refetch,
  } = useQuery({
    ...approvalQuery(id),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 10_000 : false),
  });
  const isPending = approval?.status === 'pending';
  const [wasPending, setWasPending] = useState(false);
  if (isPending && !wasPending) setWasPending(true);
  useReadAgain(approval?.context_digest ?? null, () => setSeenDigest(null));
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
      {approval.status === 'pending' ? null : <Outcome approval={approval} isFresh={wasPending} />}
      <Card approval={approval} onSeen={setSeenDigest} />
      {approval.status === 'pending' ? (
        <Decide approval={approval} seenDigest={seenDigest} onAnswer={() => refetch()} />
      ) : (
        <Next after={approval.id} />
      )}
    </>
  );
};

/**
 * If the approval context changes while it is shown, calls `forget` and scrolls to the top. A reader who had scrolled
 * to the end could otherwise approve arguments that were never on the screen.
 */
const useReadAgain = (digest: string | null, forget: () => void): void => {
  const shown = useRef(digest);
  useLayoutEffect(() => {
    if (shown.current !== null && digest !== null && shown.current !== digest) {
      forget();
      scrollTo({ top: 0, behavior: 'instant' });
    }
    shown.current = digest;
  });
};

/** How the approval ended, who decided and why, and what happened to the call since. */
const Outcome = ({
  approval,
  isFresh,
}: {
  readonly approval: Schemas['Approval'];
  /** Whether the approval was decided while this page was open. */
  readonly isFresh: boolean;
}) => {
  const nameOf = useNames();
  const by = approval.decided_by;
  const part = useRef<HTMLDivElement>(null);
  // The pressed button is gone with its focus, so the outcome takes the focus: screen readers read it, and the keyboard
  // goes on from it.
  useEffect(() => {
    if (isFresh) part.current?.focus();
  }, [isFresh]);
  return (
    <div className={styles['outcome']} role="status" ref={part} tabIndex={-1}>
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
      {approval.status === 'approved' ? (
        <BecameOf id={approval.action} />
      ) : (
        <p>
          The call did not run. <Link href={`/actions/${approval.action}`}>The call</Link> <Id id={approval.action} />
        </p>
      )}
    </div>
  );
};

/** The present status of the call. The event stream keeps this query up to date. */
const BecameOf = ({ id }: { readonly id: string }) => {
  const { data: action, error } = useQuery(actionQuery(id));
  return (
    <p className={styles['became']}>
      <Link href={`/actions/${id}`}>The call</Link>
      {action === undefined ? (
        error === null ? (
          <span>is loading …</span>
        ) : (
          <Id id={id} />
        )
      ) : (
        <>
          <StatusBadge status={action.status} execution={action.execution} />
          {action.witness === null ? null : <EvidenceBadge witness={action.witness} />}
          {action.execution?.error_message === null || action.execution?.error_message === undefined ? null : (
            <Said text={action.execution.error_message} />
          )}
        </>
      )}
    </p>
  );
};

const SETTLE_MS = 500;

/**
 * In place of the buttons: a link to the next approval. Not usable for a moment, because the second tap of a double tap
 * on Approve is not meant for it.
 */
const Next = ({ after }: { readonly after: string }) => {
  const [, navigate] = useLocation();
  const isSettled = useSettled('next', SETTLE_MS);
  const { data: waiting } = useWaitingApprovals();
  const mine = waiting?.data.filter(({ id, you }) => id !== after && you?.eligible === true) ?? [];
  const [next] = mine;
  const go = (): void => {
    if (isSettled) navigate(next === undefined ? '/approvals' : `/approvals/${next.id}`);
  };
  return (
    <div className={styles['decide']}>
      <div className={styles['next']}>
        <Button
          kind={next === undefined ? 'plain' : 'primary'}
          aria-disabled={isSettled ? undefined : true}
          onClick={go}
        >
          {next === undefined ? (
            'All approvals'
          ) : (
            <>
              Next: <Said text={next.tool} /> ({mine.length} left)
            </>
          )}
        </Button>
      </div>
    </div>
  );
};
