import { nameIn, useMembers } from '../kernel/members.ts';
import { useSession } from '../kernel/session.tsx';

/** The owners by their names, and what they may. */
export const WhoMay = ({ may }: { readonly may: string }) => {
  const { data: members } = useMembers();
  const { me } = useSession();
  const owners = members?.filter(({ role, user }) => role === 'owner' && user !== me.user.id) ?? [];
  const names = owners.map(({ user }) => nameIn(members, user)).join(', ');
  return <>{`${names === '' ? 'An owner' : names} may ${may}.`}</>;
};
