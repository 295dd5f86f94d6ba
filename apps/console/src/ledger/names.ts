import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { everyAgent } from '../agents/queries.ts';
import { everyConnector } from '../connectors/queries.ts';
import { useMembers } from '../kernel/members.ts';
import { useSession } from '../kernel/session.tsx';
import { everyPolicy } from '../policies/queries.ts';

export type Names = ReadonlyMap<string, string>;

interface Listed {
  readonly data: readonly { readonly id: string; readonly name: string }[];
}

const namesIn = (list: Listed | undefined): Names => new Map(list?.data.map(({ id, name }) => [id, name]));

/** The agents' names by id; empty while they are loading. */
export const useAgentNames = (): Names => {
  const { data } = useQuery(everyAgent);
  return useMemo(() => namesIn(data), [data]);
};

/** The names of all that deeds name by id only: agents, connectors, policies, members and this organization. */
export const useNames = (): Names => {
  const { me } = useSession();
  const agents = useAgentNames();
  const { data: members } = useMembers();
  const { data: connectors } = useQuery(everyConnector);
  const { data: policies } = useQuery(everyPolicy);
  return useMemo(() => {
    const people = (members ?? []).flatMap(({ id, user, email }) =>
      email === null ? [] : [[id, email] as const, [user, email] as const],
    );
    return new Map([
      ...agents,
      ...namesIn(connectors),
      ...namesIn(policies),
      ...people,
      [me.org.id, me.org.name] as const,
    ]);
  }, [agents, connectors, policies, members, me]);
};
