import { everyOf, pagesOf, query } from '../kernel/query.ts';

/** Every connector of the organization, for names and the search. */
export const everyConnector = everyOf('/v1/connectors', {}, { staleTime: 60_000 });

export const connectorPages = () => pagesOf('/v1/connectors', {});

export const connectorQuery = (id: string) => query('/v1/connectors/{id}', { path: { id } });

/** The catalogue of connector types. It changes with the version of the service. */
export const connectorTypes = everyOf('/v1/connector-types', {}, { staleTime: 300_000 });
