import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { Schemas } from './client.ts';
import { meQuery, organizationQuery } from './queries.ts';
import { isAtLeast, type Role } from './roles.ts';
import { Times } from './times.ts';

interface Session {
  readonly me: Schemas['Me'];
  /** Null until it was read; until then its name and status are in `me`. */
  readonly org: Schemas['Organization'] | null;
  readonly times: Times;
}

const SessionContext = createContext<Session | null>(null);

export const useMe = () => useQuery(meQuery);

/** @param isWatched whether to read it anew every second, as while all agents are being stopped */
export const useOrganization = (isWatched = false) =>
  useQuery({ ...organizationQuery, ...(isWatched ? { staleTime: 0, refetchInterval: 1_000 } : {}) });

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

export const useMay = (role: Role): boolean => isAtLeast(useSession().me.membership.role, role);
