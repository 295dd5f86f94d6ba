import { Link } from 'wouter';
import { placeOfId } from '../kernel/address.ts';
import type { Schemas } from '../kernel/client.ts';
import { shortId } from '../kernel/said.ts';
import { Id, Said } from '../kit/kit.tsx';
import { useNames } from './names.ts';

/** An object by its id: its name if it has one, as a link to its page, with the id beside it. */
export const Named = ({ id }: { readonly id: string }) => {
  const name = useNames().get(id);
  const place = placeOfId(id);
  if (name === undefined) return place === null ? <Id id={id} /> : <Page id={id} place={place} />;
  return (
    <>
      {place === null ? (
        <Said text={name} />
      ) : (
        <Link href={place}>
          <Said text={name} />
        </Link>
      )}{' '}
      <Id id={id} />
    </>
  );
};

const PAGES: Readonly<Record<string, string>> = {
  act: 'the action',
  apr: 'the approval',
  agt: 'the agent',
  pol: 'the policy',
  con: 'the connector',
  deed: 'the deed',
  whk: 'the webhook',
};

const Page = ({ id, place }: { readonly id: string; readonly place: string }) => (
  <>
    <Link href={place}>{PAGES[id.slice(0, id.indexOf('_'))] ?? 'its page'}</Link> <Id id={id} />
  </>
);

const ACTORS: Readonly<Record<string, string>> = {
  agent: 'an agent',
  user: 'a person',
  admin_key: 'admin key',
  operator: 'the operator',
  system: 'the service',
};

/** An actor, as a part of a sentence. */
export const ActorName = ({ actor }: { readonly actor: Pick<Schemas['Actor'], 'type' | 'id'> | null }) => {
  const names = useNames();
  if (actor === null) return <>somebody</>;
  const { type, id } = actor;
  const name = id === null ? undefined : names.get(id);
  if (name !== undefined) return <Said text={name} />;
  const kind = ACTORS[type] ?? type;
  return <Said text={id === null ? kind : `${kind} ${shortId(id)}`} />;
};
