import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../kernel/client.ts';
import type { Context } from '../kernel/keys.ts';
import { connectorQuery, connectorTypes } from './queries.ts';

export type Connector = Schemas['Connector'];
export type ConnectorType = Schemas['ConnectorType'];

/** What a connector that is made, changed or removed changes: its tools, too. */
export const CHANGED = ['connectors', 'tools'] as const satisfies readonly Context[];

/** The catalogue of connector types. */
export const useTypes = () => useQuery({ ...connectorTypes, select: ({ data }) => data });

/**
 * How often a witness is read again. No event tells of its first connection, nor of a lag within its bounds.
 * @returns false where there is none to look at
 */
const witnessReadMs = (connector: Connector | undefined): number | false => {
  const status = connector?.witness?.status ?? 'off';
  if (status === 'off') return false;
  return status === 'healthy' ? 15_000 : 5_000;
};

export const useConnector = (id: string) =>
  useQuery({ ...connectorQuery(id), refetchInterval: ({ state }) => witnessReadMs(state.data) });
