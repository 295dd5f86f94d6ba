import { Link } from 'wouter';
import { useFilters } from '../kernel/address.ts';
import type { Schemas } from '../kernel/client.ts';
import { useList } from '../kernel/lists.ts';
import { useMembers } from '../kernel/members.ts';
import { shortId } from '../kernel/said.ts';
import { Failure, Lag } from '../kit/failure.tsx';
import { ChoiceChip } from '../kit/filters.tsx';
import { Bones, Button, Empty, Id, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot } from '../kit/list-foot.tsx';
import { Who } from '../kit/who.tsx';
import { securityEventPages } from './queries.ts';
import { eventInWords, GROUP_CHOICES, isOfPerson, typesOf } from './security-words.ts';
import styles from './settings.module.css';

type SecurityEvent = Schemas['SecurityEvent'];

/** The security events, newest first: sign-ins and failed ones, changes of keys and addresses, and exports. */
export const SecuritySection = () => {
  const { filters, clear } = useFilters();
  const types = typesOf(filters.get('type'));
  const list = useList(securityEventPages(types));
  const { rows, error, isPending, refetch } = list;
  return (
    <>
      <Lag events={list.lag} />
      <p className={kit['dim']}>
        What changes who may act, such as keys and members, is sealed as well: see the{' '}
        <Link href="/deeds?kind=admin">admin deeds</Link>.
      </p>
      <div className={styles['tools']}>
        <ChoiceChip name="type" label="event" choices={GROUP_CHOICES} />
      </div>
      {error !== null ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Bones count={5} />
      ) : rows.length > 0 ? (
        <div className={kit['panel']}>
          <EventsTable rows={rows} />
        </div>
      ) : types === null ? (
        <Empty title="No security events yet">
          Sign-ins and sign-outs, sign-ins that failed, changed addresses, exports, and keys that are issued, rolled or
          revoked are listed here.
        </Empty>
      ) : (
        <Empty title="No events match this filter">
          <Button onClick={clear}>Show all events</Button>
        </Empty>
      )}
      <ListFoot {...list} />
    </>
  );
};

const EventsTable = ({ rows }: { readonly rows: readonly SecurityEvent[] }) => {
  const { data: members } = useMembers();
  const addressOf = (user: string): string | null => members?.find((member) => member.user === user)?.email ?? null;
  return (
    <table className={kit['table']}>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Who</th>
          <th scope="col">Event</th>
          <th scope="col">Key or session</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((event) => (
          <EventRow key={event.id} event={event} addressOf={addressOf} />
        ))}
      </tbody>
    </table>
  );
};

const EventRow = ({
  event,
  addressOf,
}: {
  readonly event: SecurityEvent;
  readonly addressOf: (user: string) => string | null;
}) => {
  const { user, by, key, session } = event;
  const actor = by?.type === 'user' ? by.id : null;
  const person = isOfPerson(event) ? user : actor;
  const address = person === null ? null : addressOf(person);
  const about = user === null ? '' : (addressOf(user) ?? shortId(user));
  const id = key?.successor ?? key?.id ?? session;
  const agent = key?.agent ?? null;
  return (
    <tr>
      <td className={kit['number']}>
        <Time at={event.at} />
      </td>
      <td data-wide>
        {person === null ? <Who actor={by} /> : address === null ? <Id id={person} /> : <Said text={address} />}
      </td>
      <td data-wide>
        <Said text={eventInWords(event, about)} />
        {agent === null ? null : (
          <>
            {' '}
            <Link href={`/agents/${agent}`}>{shortId(agent)}</Link>
          </>
        )}
      </td>
      <td data-hide>{id === null ? null : <Id id={id} />}</td>
    </tr>
  );
};
