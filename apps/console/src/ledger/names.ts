import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, bodyOf } from '../kernel/client.ts';
import { useMembers } from '../kernel/members.ts';
import { useSession } from '../kernel/session.tsx';

export type Names = ReadonlyMap<string, string>;

const KEPT_MS = 60_000;
const PAGE = { params: { query: { limit: 100 } } } as const;

interface Listed {
  readonly data: readonly { readonly id: string; readonly name: string }[];
}

const namesIn = (list: Listed | undefined): Names => new Map(list?.data.map(({ id, name }) => [id, name]));

/** Names of agents by their ids; empty while they are read. */
export const useAgentNames = (): Names => {
  const { data } = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: () => bodyOf(api.GET('/v1/agents', PAGE)),
    staleTime: KEPT_MS,
  });
  return useMemo(() => namesIn(data), [data]);
};

/** Of everything that a deed names by its id alone and that has a name: agents, connectors, policies, people, this organization. */
export const useNames = (): Names => {
  const { me } = useSession();
  const agents = useAgentNames();
  const { data: members } = useMembers();
  const { data: connectors } = useQuery({
    queryKey: ['connectors', 'names'],
    queryFn: () => bodyOf(api.GET('/v1/connectors', PAGE)),
    staleTime: KEPT_MS,
  });
  const { data: policies } = useQuery({
    queryKey: ['policies', 'names'],
    queryFn: () => bodyOf(api.GET('/v1/policies', PAGE)),
    staleTime: KEPT_MS,
  });
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
