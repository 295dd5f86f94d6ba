import type { Schemas } from '../kernel/client.ts';
import { useNames } from '../kernel/members.ts';
import { Said } from './kit.tsx';

/** Names who did something, in words that people know. */
export const Who = ({ actor }: { readonly actor: Schemas['Actor'] | null }) => {
  const nameOf = useNames();
  if (actor === null) return <>somebody</>;
  switch (actor.type) {
    case 'user':
      return <Said text={actor.id === null ? 'a person' : nameOf(actor.id)} />;
    case 'admin_key':
      return <>an admin key</>;
    case 'operator':
      return <>the operator</>;
    case 'agent':
      return <>an agent</>;
    case 'system':
      return <>the service</>;
  }
};
