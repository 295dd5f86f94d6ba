import type { Digest, JsonObject } from '#libs/crypto';

import type { ConnectorId, OrgId } from '../kernel/ids.js';
import type { ConnectorEvent, ConnectorStatus, ConnectorType, CredentialFacts } from './connector.events.js';

/** A connector that answers to its name, enabled or not. */
export interface LiveConnector {
  readonly status: ConnectorStatus;
  readonly id: ConnectorId;
  readonly org: OrgId;
  readonly name: string;
  readonly type: ConnectorType;
  readonly description: string | null;
  readonly config: JsonObject;
  readonly configHash: Digest;
  readonly credential: CredentialFacts | null;
  /** Why a breaker disabled it; null when a person did, or nobody. */
  readonly disabledReason: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** `none`: the name was never used. `deleted`: its last life has ended; the name is free again. */
export type ConnectorState = { readonly status: 'none' } | { readonly status: 'deleted' } | LiveConnector;

export const initialState = (): ConnectorState => ({ status: 'none' });

export const isLive = (state: ConnectorState): state is LiveConnector =>
  state.status === 'active' || state.status === 'disabled';

/** The id part of the connector's stream. Names never change and calls arrive by name, so no directory is needed to find it. */
export const connectorStreamId = (org: OrgId, name: string): string => `${org}-${name}`;

export const evolve = (state: ConnectorState, event: ConnectorEvent): ConnectorState => {
  switch (event.type) {
    case 'ConnectorCreated':
      return created(event.data);
    case 'ConnectorUpdated':
      return isLive(state) ? updated(state, event.data) : state;
    case 'ConnectorDisabled':
      return isLive(state)
        ? { ...state, status: 'disabled', disabledReason: event.data.reason, updatedAt: event.data.at }
        : state;
    case 'ConnectorDeleted':
      return { status: 'deleted' };
    case 'ConnectorCredentialsUpdated': {
      const { kind, fields, hint, version, at } = event.data;
      return isLive(state) ? { ...state, credential: { kind, fields, hint, version }, updatedAt: at } : state;
    }
    case 'ConnectorCredentialsRemoved':
      return isLive(state) ? { ...state, credential: null, updatedAt: event.data.at } : state;
  }
};

type DataOf<Type extends ConnectorEvent['type']> = Extract<ConnectorEvent, { type: Type }>['data'];

const created = (data: DataOf<'ConnectorCreated'>): LiveConnector => ({
  status: 'active',
  id: data.connector,
  org: data.org,
  name: data.name,
  type: data.type,
  description: data.description,
  config: data.config,
  configHash: data.config_hash,
  credential: null,
  disabledReason: null,
  createdAt: data.at,
  updatedAt: data.at,
});

const updated = (state: LiveConnector, data: DataOf<'ConnectorUpdated'>): LiveConnector => ({
  ...state,
  description: data.description === undefined ? state.description : data.description,
  status: data.status ?? state.status,
  config: data.config ?? state.config,
  configHash: data.config_hash ?? state.configHash,
  // Whoever sets the status answers for it from then on.
  disabledReason: data.status === undefined ? state.disabledReason : null,
  updatedAt: data.at,
});
