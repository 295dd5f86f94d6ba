import { useQuery } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';

export type Connector = Schemas['Connector'];
export type ConnectorType = Schemas['ConnectorType'];

const FRESH_MS = 300_000;

/** The catalogue of connector types. */
export const useTypes = () =>
  useQuery({
    queryKey: ['connector-types'],
    queryFn: () => bodyOf(api.GET('/v1/connector-types', { params: { query: { limit: 100 } } })),
    staleTime: FRESH_MS,
    select: ({ data }) => data as readonly ConnectorType[],
  });

export const useConnector = (id: string) =>
  useQuery({
    queryKey: ['connector', id],
    queryFn: () => bodyOf(api.GET('/v1/connectors/{id}', { params: { path: { id } } })),
  });
