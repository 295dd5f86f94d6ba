import { useState } from 'react';
import { useFilters } from '../kernel/address.ts';
import type { Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { useList } from '../kernel/lists.ts';
import { useChanged } from '../kernel/refresh.ts';
import { plain } from '../kernel/said.ts';
import { ROLES } from '../kernel/roles.ts';
import { useMay, useSession } from '../kernel/session.tsx';
import { Badge } from '../kit/badges.tsx';
import { Menu } from '../kit/dialog.tsx';
import { Failure } from '../kit/failure.tsx';
import { ChoiceChip } from '../kit/filters.tsx';
import { Icon } from '../design/icon.tsx';
import { Bones, Button, Empty, Id, None, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot } from '../kit/list-foot.tsx';
import { SectionHead } from './section-head.tsx';
import { ChangeMember, Invite, RemoveMember } from './member-dialogs.tsx';
import { rightsOver } from './member-rights.ts';
import { memberPages } from './queries.ts';
import styles from './settings.module.css';

type Membership = Schemas['Membership'];

type Open =
  | { readonly is: 'invite'; readonly again: Membership | null }
  | { readonly is: 'change' | 'remove'; readonly member: Membership }
  | null;

/** The members of the organization, with the buttons to change and remove them. */
export const MembersSection = () => {
  const { filters } = useFilters();
  const changed = useChanged();
  const [open, setOpen] = useState<Open>(null);
  const [news, setNews] = useState('');
  const status = filters.get('status');
  const list = useList(memberPages(status as Membership['status'] | null));
  const { rows, error, isPending, refetch } = list;
  const done = (said: string): void => {
    setOpen(null);
    setNews(said);
    changed(['members', 'me']);
  };
  const close = (): void => setOpen(null);
  return (
    <>
      <SectionHead
        id="members"
        action={
          useMay('admin') ? (
            <Button kind="primary" icon="people" onClick={() => setOpen({ is: 'invite', again: null })}>
              Invite person
            </Button>
          ) : null
        }
      />
      <div className={styles['tools']}>
        <ChoiceChip
          name="status"
          isSingle
          choices={[
            ['active', 'members'],
            ['invited', 'invited'],
            ['removed', 'removed'],
          ]}
        />
        <span className={styles['said']} role="status">
          {news}
        </span>
      </div>
      {error !== null ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Bones count={3} />
      ) : rows.length === 0 ? (
        <NoMembers isInvited={status === 'invited'} />
      ) : (
        <div className={kit['panel']}>
          <MembersTable rows={rows} onOpen={setOpen} />
        </div>
      )}
      <ListFoot {...list} />
      {open?.is === 'invite' ? <Invite again={open.again} onDone={done} onClose={close} /> : null}
      {open?.is === 'change' ? <ChangeMember member={open.member} onDone={done} onClose={close} /> : null}
      {open?.is === 'remove' ? <RemoveMember member={open.member} onDone={done} onClose={close} /> : null}
    </>
  );
};

const NoMembers = ({ isInvited }: { readonly isInvited: boolean }) => (
  <Empty title={isInvited ? 'No open invitations' : 'No removed members'}>
    {isInvited
      ? 'An invitation is a mail with a link that works for seven days. The person becomes a member when they use the link.'
      : 'Removed members lose all sessions in this organization immediately. The log still shows that they were members.'}
  </Empty>
);

interface WithOpen {
  readonly onOpen: (open: Open) => void;
}

const MembersTable = ({ rows, onOpen }: WithOpen & { readonly rows: readonly Membership[] }) => (
  <table className={kit['table']}>
    <thead>
      <tr>
        <th scope="col">Person</th>
        <th scope="col">Role</th>
        <th scope="col">Status</th>
        <th scope="col">
          <span className="visually-hidden">Actions</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map((member) => (
        <tr key={member.id}>
          <td className={styles['who']}>
            <Person member={member} />
          </td>
          <td data-end>{ROLES[member.role].name}</td>
          <td>
            <Stand member={member} />
          </td>
          <td className={styles['actions']}>
            <MemberMenu member={member} onOpen={onOpen} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Person = ({ member: { email, user, id } }: { readonly member: Membership }) => {
  const { me } = useSession();
  return (
    <>
      {email === null ? <Id id={user} /> : <Said text={email} />}
      {id === me.membership.id ? <small>you</small> : null}
    </>
  );
};

const Stand = ({
  member: { status, joined_at: joined, invitation_expires_at: until },
}: {
  readonly member: Membership;
}) => {
  const { times } = useSession();
  switch (status) {
    case 'active':
      return (
        <span className={kit['dim']}>
          member{' '}
          {joined === null ? null : (
            <>
              since <time dateTime={joined}>{times.date(joined)}</time>
            </>
          )}
        </span>
      );
    case 'invited': {
      const isOver = until !== null && Date.parse(until) <= serverNow();
      return (
        <>
          <Badge tone={isOver ? 'quiet' : 'accent'} icon={isOver ? 'clock' : 'send'}>
            {isOver ? 'Invitation expired' : 'Invited'}
          </Badge>{' '}
          {until === null ? null : (
            <span className={kit['dim']}>
              link {isOver ? 'expired' : 'works until'} <Time at={until} />
            </span>
          )}
        </>
      );
    }
    case 'removed':
      return <span className={kit['dim']}>removed</span>;
  }
};

const MemberMenu = ({ member, onOpen }: WithOpen & { readonly member: Membership }) => {
  const { me } = useSession();
  const rights = rightsOver(member, { role: me.membership.role, membership: me.membership.id });
  if (!Object.values(rights).some((may) => may)) return <None />;
  return (
    <Menu
      button={({ popoverTarget }) => (
        <button
          type="button"
          className={kit['iconButton']}
          aria-label={`Actions for ${plain(member.email ?? member.user)}`}
          popoverTarget={popoverTarget}
        >
          <Icon name="more" />
        </button>
      )}
    >
      {rights.change ? (
        <button type="button" onClick={() => onOpen({ is: 'change', member })}>
          Change role and references
        </button>
      ) : null}
      {rights.invite ? (
        <button type="button" onClick={() => onOpen({ is: 'invite', again: member })}>
          Invite again
        </button>
      ) : null}
      {rights.remove || rights.leave ? (
        <button type="button" onClick={() => onOpen({ is: 'remove', member })}>
          {rights.leave ? 'Leave' : member.status === 'invited' ? 'Withdraw invitation' : 'Remove'}
        </button>
      ) : null}
    </Menu>
  );
};
