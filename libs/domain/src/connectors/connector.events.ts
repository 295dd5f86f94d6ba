import type { Digest, JsonObject } from '#libs/crypto';

import type { ConnectorId, OrgId, Timestamp } from '../kernel/index.js';
import type { AcceptedTools, RecordedTools } from './discovered-tools.js';

/** The types that the interface knows. Which of them this version serves: `connector-types.ts`. */
export const CONNECTOR_TYPES = [
  ...(['rest', 'mcp_http', 'database', 'code_host', 'chat'] as const),
  ...(['payments', 'mail', 'notes', 'fake'] as const),
] as const;
export type ConnectorType = (typeof CONNECTOR_TYPES)[number];

export const CREDENTIAL_KINDS = ['bearer', 'header', 'basic', 'query', 'database', 'none'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

export const CONNECTOR_STATUSES = ['active', 'disabled'] as const;
export type ConnectorStatus = (typeof CONNECTOR_STATUSES)[number];

/** What is known about a stored credential. Never a value: those lie in the vault, under (org, connector, version). */
export interface CredentialFacts {
  readonly kind: CredentialKind;
  /** Names of the secret's fields, in the order of the kind. */
  readonly fields: readonly string[];
  /** Last characters of the secret, when it is long enough to show some; else null. */
  readonly hint: string | null;
  /** Names the vault rows that hold the values. */
  readonly version: string;
}

/** Which connector an event is about. The stream holds every life of a name, so the id tells the lives apart. */
interface OfConnector {
  readonly org: OrgId;
  readonly connector: ConnectorId;
  readonly name: string;
  readonly at: Timestamp;
}

type Event<Type extends string, Data = unknown> = { readonly type: Type; readonly data: OfConnector & Data };

/** Stream `connector-<org_id>-<name>`: all that one name ever stood for. Each of these seals an admin deed. */
export type ConnectorEvent =
  | Event<
      'ConnectorCreated',
      {
        readonly type: ConnectorType;
        readonly description: string | null;
        /** As stored: defaults filled in. */
        readonly config: JsonObject;
        /** Digest of the config in RFC 8785 form. */
        readonly config_hash: Digest;
      }
    >
  /** Only members that changed are present; `config` and `config_hash` come together. */
  | Event<
      'ConnectorUpdated',
      {
        readonly description?: string | null;
        readonly status?: ConnectorStatus;
        readonly config?: JsonObject;
        readonly config_hash?: Digest;
      }
    >
  /**
   * A safety breaker, not a person (rule CON-11): an admin enables it again with ConnectorUpdated. `upstream_request_id` names the
   * request whose answer tripped it, as the upstream does; absent where none did, or it named none.
   */
  | Event<'ConnectorDisabled', { readonly reason: string; readonly upstream_request_id?: string }>
  /** `credential_version` names the vault rows that went with it. */
  | Event<'ConnectorDeleted', { readonly credential_version: string | null }>
  | Event<'ConnectorCredentialsUpdated', CredentialFacts>
  | Event<'ConnectorCredentialsRemoved', { readonly version: string }>
  /** The server of the connector lists other tools than the log has. */
  | Event<'ConnectorToolsRecorded', RecordedTools>
  /** A person has looked at what the server changed, and lets agents call it. */
  | Event<'ConnectorToolsAccepted', AcceptedTools>;
