import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { ApprovalBadge } from '../kit/badges.tsx';
import { Id, Said, Time } from '../kit/kit.tsx';
import { ActorName } from '../ledger/named.tsx';
import styles from './gate.module.css';
import { Step } from './step.tsx';

type Approval = Schemas['Approval'];

/** The approval of a call: who was asked, who signed or denied, when and why. */
export const PeopleStep = ({
  asked: { id, status },
  approval,
  after,
}: {
  readonly asked: NonNullable<Schemas['ActionDetail']['approval']>;
  /** Null while it is loading. */
  readonly approval: Approval | null;
  readonly after: ReactNode;
}) => (
  <Step
    icon="people"
    title="Approval"
    badge={<ApprovalBadge status={status} />}
    tone={status === 'approved' ? 'ok' : 'plain'}
    after={after}
  >
    {approval === null ? null : (
      <>
        <Signatures approval={approval} />
        <Ended approval={approval} />
      </>
    )}
    <p>
      <Link href={`/approvals/${id}`}>View approval</Link> <Id id={id} />
    </p>
  </Step>
);

const Reason = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <>
      : “<Said text={text} />”
    </>
  );

/** One line for each signature, in the order of signing. */
const Signatures = ({ approval: { approvers = [], status, required } }: { readonly approval: Approval }) => {
  const signed = approvers
    .flatMap(({ user, countersigned_at: at, reason }) => (at === null ? [] : [{ user, at, reason }]))
    .toSorted((one, other) => (one.at < other.at ? -1 : 1));
  return (
    <>
      {required < 2 ? null : (
        <p>
          {signed.length} of {required} approvals given.
        </p>
      )}
      {signed.map(({ user, at, reason }) => (
        <p key={user} className={styles['said']}>
          {status === 'approved' ? 'Approved' : 'Approved'} by <ActorName actor={{ type: 'user', id: user }} />,{' '}
          <Time at={at} />
          <Reason text={reason} />
        </p>
      ))}
    </>
  );
};

/** How the approval ended, or until when it waits. Nothing for an approved one, which the last signature shows. */
const Ended = ({ approval }: { readonly approval: Approval }) => {
  const { status, decided_at: at, decided_by: by, reason, expires_at: until } = approval;
  if (status === 'approved') return null;
  if (status === 'pending') {
    return (
      <p>
        Waiting until <Time at={until} />.
      </p>
    );
  }
  if (status === 'expired') {
    return (
      <p>
        No decision before <Time at={until} />, so the call did not run.
      </p>
    );
  }
  return (
    <p className={styles['said']}>
      {status === 'denied' ? 'Denied' : 'Cancelled'} by <ActorName actor={by} />
      {at === null ? null : (
        <>
          , <Time at={at} />
        </>
      )}
      <Reason text={reason} />
    </p>
  );
};
