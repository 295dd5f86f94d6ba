import { everyOf, pagesOf, query } from '../kernel/query.ts';
import type { ServedTool } from './served-tools.ts';

/** Every connector of the organization, for names and the search. */
export const everyConnector = everyOf('/v1/connectors', {}, { staleTime: 60_000 });

export const connectorPages = () => pagesOf('/v1/connectors', {});

export const connectorQuery = (id: string) => query('/v1/connectors/{id}', { path: { id } });

/** The catalogue of connector types. It changes with the version of the service. */
export const connectorTypes = everyOf('/v1/connector-types', {}, { staleTime: 300_000 });

/**
 * A row of the list of a connector's tools. Its id is in a form of its own, because rows are looked up by the ids of events:
 * a server may give its tool the name that an action has as its id.
 */
const rowOf = (tool: ServedTool) => ({ ...tool, id: `tool:${tool.name}` });

/** The tools of a connector's server that wait for an admin. */
export const heldToolPages = (id: string) =>
  pagesOf('/v1/connectors/{id}/tools', { path: { id }, query: { status: ['new', 'changed'] } }, { rowOf });

/** All others: those that agents may call, and those that the server does not list any more. */
export const otherToolPages = (id: string) =>
  pagesOf('/v1/connectors/{id}/tools', { path: { id }, query: { status: ['accepted', 'gone'] } }, { rowOf });
