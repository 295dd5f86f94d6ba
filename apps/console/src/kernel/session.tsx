import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { api, bodyOf, isOwnSession, rememberSession, type Schemas } from './client.ts';
import { Times } from './times.ts';

export type Role = Schemas['Role'];

interface Session {
  readonly me: Schemas['Me'];
  /** Null until it was read; the name and the status stand in `me`. */
  readonly org: Schemas['Organization'] | null;
  readonly times: Times;
}

const SessionContext = createContext<Session | null>(null);

/**
 * The one question without `Service-Org`: where another window has switched, or somebody else has signed in there, all that is
 * shown here is read anew.
 */
export const readMe = async (): Promise<Schemas['Me']> => {
  const me = await bodyOf(api.GET('/v1/me'));
  if (!isOwnSession(me)) {
    location.reload();
    return new Promise<never>(() => undefined);
  }
  rememberSession(me);
  return me;
};

/** Asked whenever somebody comes back to this window: another one may have signed out, or signed somebody else in. */
export const useMe = () =>
  useQuery({ queryKey: ['me'], queryFn: readMe, staleTime: 60_000, refetchOnWindowFocus: 'always' });

export const useOrganization = (isWatched = false) =>
  useQuery({
    queryKey: ['org'],
    queryFn: () => bodyOf(api.GET('/v1/org')),
    staleTime: isWatched ? 0 : 60_000,
    refetchInterval: isWatched ? 1_000 : false,
  });

export const SessionProvider = ({ me, children }: { readonly me: Schemas['Me']; readonly children: ReactNode }) => {
  const { data: org = null } = useOrganization();
  const zone = org?.timezone ?? 'UTC';
  const times = useMemo(() => new Times(zone), [zone]);
  const session = useMemo(() => ({ me, org, times }), [me, org, times]);
  return <SessionContext value={session}>{children}</SessionContext>;
};

/** Who is signed in, where, and in which zone times are told. Below the shell alone. */
export const useSession = (): Session => {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('shown outside of a session');
  return session;
};

const RANKS: readonly Role[] = ['viewer', 'admin', 'owner'];

export const useMay = (role: Role): boolean => RANKS.indexOf(useSession().me.membership.role) >= RANKS.indexOf(role);
