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

export const useConnector = (id: string) => useQuery(connectorQuery(id));
