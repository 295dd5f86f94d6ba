import { useMembers, useNames } from '../kernel/members.ts';
import { useSession } from '../kernel/session.tsx';

/** Who may change something: the other owners by name, with what they may do. */
export const WhoMay = ({ may }: { readonly may: string }) => {
  const { data: members } = useMembers();
  const nameOf = useNames();
  const { me } = useSession();
  const owners = members?.filter(({ role, user }) => role === 'owner' && user !== me.user.id) ?? [];
  const names = owners.map(({ user }) => nameOf(user)).join(', ');
  return <>{`${names === '' ? 'An owner' : names} can ${may}.`}</>;
};
