import { Link } from 'wouter';
import { answerOf, api, type Schemas } from '../kernel/client.ts';
import { PAGE_SIZE, useList } from '../kernel/lists.ts';
import { useMembers } from '../kernel/members.ts';
import { Failure, Lag } from '../kit/failure.tsx';
import { Bones, Empty, Id, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot } from '../kit/list-foot.tsx';
import { eventInWords } from './session-words.ts';

type SecurityEvent = Schemas['SecurityEvent'];

/** Who signed in and out, newest first. It is recorded and not sealed. */
export const SecuritySection = () => {
  const list = useList(['security-events'], (cursor) =>
    answerOf(
      api.GET('/v1/security-events', {
        params: { query: { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  const { rows, error, isPending, refetch } = list;
  return (
    <>
      <Lag events={list.lag} />
      <p className={kit['dim']}>
        What changes who may act, such as keys and members, is sealed: see the{' '}
        <Link href="/deeds?kind=admin">admin deeds</Link>.
      </p>
      {error !== null ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Bones count={5} />
      ) : rows.length === 0 ? (
        <Empty title="No security events yet">
          Sign-ins and sign-outs of people are listed here. They are recorded without deeds.
        </Empty>
      ) : (
        <div className={kit['panel']}>
          <EventsTable rows={rows} />
        </div>
      )}
      <ListFoot {...list} />
    </>
  );
};

const EventsTable = ({ rows }: { readonly rows: readonly SecurityEvent[] }) => {
  const { data: members } = useMembers();
  return (
    <table className={kit['table']}>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Person</th>
          <th scope="col">Event</th>
          <th scope="col">Session</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((event) => {
          const address = members?.find(({ user }) => user === event.user)?.email ?? null;
          return (
            <tr key={event.id}>
              <td className={kit['number']}>
                <Time at={event.at} />
              </td>
              <td data-wide>{address === null ? <Id id={event.user} /> : <Said text={address} />}</td>
              <td data-wide>{eventInWords(event)}</td>
              <td data-hide>
                <Id id={event.session} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
};
