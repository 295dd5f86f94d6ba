import type { Context } from '../kernel/keys.ts';
import type { Filters } from '../kernel/filtered-list.ts';
import { pagesOf, query } from '../kernel/query.ts';

export const actionPages = (filters: Filters) => pagesOf('/v1/actions', { query: filters }, { isStill: true });

export const actionQuery = (id: string) => query('/v1/actions/{id}', { path: { id } });

/** The newest action, to know whether there is any. */
export const newestAction = query('/v1/actions', { query: { limit: 1 } });

/** Actions of a session that an agent named. */
export const actionsOfSession = (session: string, limit: number) =>
  query('/v1/actions', { query: { session, limit } }, { isStill: true });

/**
 * The newest actions of an agent, or of the tools of a connector.
 * @param of whatever makes the agents or the connectors stale makes this list stale, too; events of actions do not,
 * because its rows would move
 */
export const recentActions = (
  of: Extract<Context, 'agents' | 'connectors'>,
  filter: { readonly agent: string } | { readonly tool: string },
  limit: number,
) => query('/v1/actions', { query: { ...filter, limit } }, { of });

/** The newest actions, to choose one from. */
export const actionsToChoose = (limit: number) =>
  query('/v1/actions', { query: { limit } }, { isStill: true, staleTime: 30_000 });

/** The newest actions since an instant that the version in shadow would have decided differently. */
export const shadowDifferences = (since: string, limit: number) =>
  query('/v1/actions', { query: { shadow_differs: 'true', 'created_at[gte]': since, limit } });
