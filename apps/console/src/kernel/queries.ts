import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, isOwnSession, rememberSession, type Schemas } from './client.ts';
import { keyOf } from './keys.ts';
import { everyOf, query } from './query.ts';

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
export const meQuery = queryOptions({
  queryKey: keyOf('/v1/me', {}),
  queryFn: readMe,
  staleTime: 60_000,
  refetchOnWindowFocus: 'always',
});

export const organizationQuery = query('/v1/org', {}, { staleTime: 60_000 });

/** The version of the running service, and where its documentation is. */
export const versionQuery = query('/v1/version', {}, { staleTime: 60_000 });

/** The active members, for their addresses: elsewhere the API names people by id only. */
export const everyMember = everyOf('/v1/org/members', { query: { status: 'active' } }, { staleTime: 300_000 });
