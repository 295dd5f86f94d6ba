import { commaList, searchText } from '../lists/filter-values.js';

const STATUSES = ['active', 'stopped', 'suspended'] as const;

/** What GET /v1/agents asks for; null where it does not ask. All of it must hold. */
export interface AgentFilters {
  readonly statuses: readonly (typeof STATUSES)[number][] | null;
  /** In the name or the id; or it names one of the keys. */
  readonly text: string | null;
  readonly withUsage: boolean;
}

export interface AgentFilterParameters {
  readonly status?: string;
  readonly q?: string;
  readonly 'expand[]'?: readonly string[];
}

/** @throws {DomainError} validation_failed naming the parameter */
export const parseAgentFilters = (sent: AgentFilterParameters): AgentFilters => ({
  statuses: commaList('status', sent.status, STATUSES),
  text: sent.q === undefined ? null : searchText(sent.q),
  withUsage: sent['expand[]']?.includes('usage') ?? false,
});
