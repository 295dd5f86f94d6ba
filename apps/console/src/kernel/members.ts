import { useQuery } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from './client.ts';
import { everyRow } from './every-row.ts';
import { shortId } from './said.ts';
import { useSession } from './session.tsx';

/** The active members, for their addresses: elsewhere the API names people by id only. */
export const useMembers = () =>
  useQuery({
    queryKey: ['members'],
    queryFn: () =>
      everyRow((page) => bodyOf(api.GET('/v1/org/members', { params: { query: { ...page, status: 'active' } } }))),
    staleTime: 300_000,
    select: ({ data }) => data as readonly Schemas['Membership'][],
  });

/**
 * Returns how a page names a person: 'you' for the reader, else the e-mail address, else the shortened id (a member
 * without an address, or no longer a member). In lower case, to stand within a sentence.
 */
export const useNames = (): ((user: string) => string) => {
  const { data: members } = useMembers();
  const { me } = useSession();
  return (user) =>
    user === me.user.id ? 'you' : (members?.find((member) => member.user === user)?.email ?? shortId(user));
};
