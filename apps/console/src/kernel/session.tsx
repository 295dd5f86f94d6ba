import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { api, bodyOf, isOwnSession, rememberSession, type Schemas } from './client.ts';
import { Times } from './times.ts';

export type Role = Schemas['Role'];

interface Session {
  readonly me: Schemas['Me'];
  /** Null until it was read; until then its name and status are in `me`. */
  readonly org: Schemas['Organization'] | null;
  readonly times: Times;
}

const SessionContext = createContext<Session | null>(null);

/**
 * Reads who is signed in, as the one request without `Service-Org`. If another window has switched the organization, or
 * somebody else has signed in there, this window reloads, and the promise never resolves.
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

/**
 * Asked again each time the window gets the focus: in another window, the person may have signed out, or somebody else
 * signed in.
 */
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

/**
 * The person, the organization and the times in its zone.
 * @throws {Error} if used outside of the shell, which provides them
 */
export const useSession = (): Session => {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('shown outside of a session');
  return session;
};

const RANKS: readonly Role[] = ['viewer', 'admin', 'owner'];

export const useMay = (role: Role): boolean => RANKS.indexOf(useSession().me.membership.role) >= RANKS.indexOf(role);
