import type { Digest, JsonObject } from '#libs/crypto';

import type { ConnectorId, OrgId, Timestamp } from '../kernel/index.js';
import type { ConnectorStatus, ConnectorType, CredentialFacts } from './connector.events.js';
import type { DiscoveredTools } from './discovered-tools.js';

/** What is known of the credential there is now. */
export interface StoredCredential extends CredentialFacts {
  readonly setAt: Timestamp;
}

/** What decides which list a server gives: where it is, and as whom it is asked. */
export interface ListedWith {
  readonly configHash: Digest;
  /** Null where none was stored. */
  readonly credentialVersion: string | null;
}

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
  readonly credential: StoredCredential | null;
  /** Why a breaker disabled it; null when a person did, or nobody. */
  readonly disabledReason: string | null;
  /** What its server lists; absent where none was asked yet, and for types whose config names the tools. */
  readonly discovered?: DiscoveredTools;
  /** What the connector had when the last list was recorded; absent where there is none. */
  readonly listedWith?: ListedWith;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** `none`: the name was never used. `deleted`: its last life has ended; the name is free again. */
export type ConnectorState = { readonly status: 'none' } | { readonly status: 'deleted' } | LiveConnector;

export const isLive = (state: ConnectorState): state is LiveConnector =>
  state.status === 'active' || state.status === 'disabled';

/** The id part of the connector's stream. Names never change and calls arrive by name, so no directory is needed to find it. */
export const connectorStreamId = (org: OrgId, name: string): string => `${org}-${name}`;
