import { useQuery } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from './client.ts';
import { everyRow } from './every-row.ts';
import { shortId } from './said.ts';
import { useSession } from './session.tsx';

/** Everybody who decides here, for their names: the API names people by their ids alone. */
export const useMembers = () =>
  useQuery({
    queryKey: ['members'],
    queryFn: () =>
      everyRow((page) => bodyOf(api.GET('/v1/org/members', { params: { query: { ...page, status: 'active' } } }))),
    staleTime: 300_000,
    select: ({ data }) => data as readonly Schemas['Membership'][],
  });

/**
 * Names people: who looks at the page as 'you', others by their address, and by their id, cut, who has none or is gone.
 * What it gives may stand within a sentence.
 */
export const useNames = (): ((user: string) => string) => {
  const { data: members } = useMembers();
  const { me } = useSession();
  return (user) =>
    user === me.user.id ? 'you' : (members?.find((member) => member.user === user)?.email ?? shortId(user));
};
