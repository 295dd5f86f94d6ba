import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, doneOf, type Schemas } from '../kernel/client.ts';
import { useList } from '../kernel/lists.ts';
import { useChanged } from '../kernel/refresh.ts';
import { useSession } from '../kernel/session.tsx';
import { Badge } from '../kit/badges.tsx';
import { Failure } from '../kit/failure.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Bones, Button, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot } from '../kit/list-foot.tsx';
import { leaveFor, mayLeave } from '../shell/leaving.ts';
import { PasskeysPanel } from './passkeys-panel.tsx';
import { sessionPages } from './queries.ts';
import { browserOf, viaInWords } from './session-words.ts';
import styles from './settings.module.css';

type Session = Schemas['Session'];

const endSession = (id: string) => bodyOf(api.DELETE('/v1/sessions/{id}', { params: { path: { id } } }));

/** The person's own sessions, in all organizations. */
export const SessionsSection = () => {
  const changed = useChanged();
  const [isAsked, setAsked] = useState(false);
  const list = useList(sessionPages);
  const { rows, error, isPending, refetch } = list;
  const others = rows.filter(({ current }) => !current).map(({ id }) => id);
  const reread = (): void => changed(['sessions']);
  // One after the other: if one request fails, the sessions before it have ended, and the next press ends the others.
  const endOthers = useChange(async (ids: readonly string[]) => {
    for (const id of ids) await endSession(id);
  }, reread);
  return (
    <>
      <div className={styles['tools']}>
        <Button disabled={others.length === 0 || endOthers.isPending} onClick={() => endOthers.mutate(others)}>
          {endOthers.isPending ? 'Ending …' : 'End all other sessions'}
        </Button>
        <Button kind="danger" onClick={() => setAsked(true)}>
          Sign out everywhere
        </Button>
        <span className={styles['said']} role="status">
          {others.length === 0 && rows.length > 0 ? 'No other sessions.' : ''}
        </span>
      </div>
      {endOthers.error === null ? null : <Failure error={endOthers.error} />}
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {isPending ? <Bones count={2} /> : null}
      {rows.length === 0 ? null : (
        <div className={kit['panel']}>
          <ul className={styles['list']}>
            {rows.map((session) => (
              <SessionRow key={session.id} session={session} onEnded={reread} />
            ))}
          </ul>
        </div>
      )}
      <ListFoot {...list} />
      <PasskeysPanel />
      {isAsked ? <Everywhere onClose={() => setAsked(false)} /> : null}
    </>
  );
};

const SessionRow = ({ session, onEnded }: { readonly session: Session; readonly onEnded: () => void }) => {
  const { me } = useSession();
  const end = useChange(endSession, onEnded);
  const org = me.organizations.find(({ id }) => id === session.org)?.name ?? session.org;
  const browser = browserOf(session.user_agent);
  return (
    <li>
      <div>
        <span title={browser === null ? undefined : (session.user_agent ?? undefined)}>
          <Said text={browser ?? session.user_agent ?? 'Unknown program'} />
        </span>
        {session.org === me.org.id ? null : (
          <>
            {' '}
            in <Said text={org} />
          </>
        )}
        <small>
          from {session.network}, signed in <Time at={session.created_at} /> {viaInWords(session.via)}
        </small>
        <small>
          last seen <Time at={session.last_seen_at} />, ends <Time at={session.expires_at} /> at the latest
        </small>
        {end.error === null ? null : <Failure error={end.error} />}
      </div>
      {session.current ? (
        <Badge tone="ok" icon="checkCircle">
          This session
        </Badge>
      ) : (
        <Button isSmall kind="danger" disabled={end.isPending} onClick={() => end.mutate(session.id)}>
          {end.isPending ? 'Ending …' : 'End session'}
        </Button>
      )}
    </li>
  );
};

const Everywhere = ({ onClose }: { readonly onClose: () => void }) => {
  const leave = useChange(
    (everywhere: boolean) => doneOf(api.POST('/v1/auth/logout', { body: { everywhere } })),
    () => leaveFor('/login'),
  );
  return (
    <FormDialog
      title="Sign out everywhere"
      action="Sign out everywhere"
      busy="Signing out …"
      kind="stop"
      isPending={leave.isPending}
      error={leave.error}
      onSubmit={() => {
        if (mayLeave()) leave.mutate(true);
      }}
      onClose={onClose}
    >
      <p>All your sessions in all organizations end, including this one. To sign in again, request a mail link.</p>
    </FormDialog>
  );
};
