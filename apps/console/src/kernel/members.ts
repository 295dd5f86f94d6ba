import { useQuery } from '@tanstack/react-query';
import { everyMember } from './queries.ts';
import { shortId } from './said.ts';
import { useSession } from './session.tsx';

export const useMembers = () => useQuery({ ...everyMember, select: ({ data }) => data });

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
