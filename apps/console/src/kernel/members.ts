import { useQuery } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from './client.ts';

/** Everybody who decides here, for their names: the API names people by their ids alone. */
export const useMembers = () =>
  useQuery({
    queryKey: ['members'],
    queryFn: () => bodyOf(api.GET('/v1/org/members', { params: { query: { limit: 100, status: 'active' } } })),
    staleTime: 300_000,
    select: ({ data }) => data as readonly Schemas['Membership'][],
  });

/** The address of a person; their id where it is not known. */
export const nameIn = (members: readonly Schemas['Membership'][] | undefined, user: string): string =>
  members?.find((member) => member.user === user)?.email ?? user;
