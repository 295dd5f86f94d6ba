import type { Filters } from '../kernel/filtered-list.ts';
import { everyOf, pagesOf, query } from '../kernel/query.ts';

const NAMES_STALE_MS = 60_000;

/** Every agent of the organization, for names, budgets and filters. */
export const everyAgent = everyOf('/v1/agents', {}, { staleTime: NAMES_STALE_MS });

/** The agents that may call tools now, with what each used up today. */
export const activeAgents = everyOf(
  '/v1/agents',
  { query: { status: ['active'], 'expand[]': ['usage'] } },
  {
    staleTime: 5_000,
    tooMany:
      'There are more than 10,000 active agents, which is too many to list here. Stop all of them, or find one on the Agents screen and stop it on its own page.',
  },
);

export const agentPages = (filters: Filters) => pagesOf('/v1/agents', { query: { ...filters, 'expand[]': ['usage'] } });

export const agentQuery = (id: string) => query('/v1/agents/{id}', { path: { id } });

/** What an agent used up today. Only the list has the usage, so it is searched by the agent's id. */
export const usageQuery = (id: string) => query('/v1/agents', { query: { q: id, 'expand[]': ['usage'], limit: 1 } });

/** The agents that have a key of this name: one, unless the name is also in an agent's name. */
export const agentsOfKey = (key: string) =>
  query('/v1/agents', { query: { q: key, limit: 2 } }, { staleTime: NAMES_STALE_MS });

export const agentKeys = (id: string) => everyOf('/v1/agents/{id}/keys', { path: { id } });

export const intentKeys = (id: string) => query('/v1/agents/{id}/intent-keys', { path: { id } });
