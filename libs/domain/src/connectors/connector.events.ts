import type { Digest, JsonObject } from '#libs/crypto';

import type { ConnectorId, OrgId } from '../kernel/ids.js';

/** Document 3, Connector: the types the interface knows. Which of them this version serves: `connector-types.ts`. */
export type ConnectorType =
  'rest' | 'mcp_http' | 'database' | 'code_host' | 'chat' | 'payments' | 'mail' | 'notes' | 'fake';

export type CredentialKind = 'bearer' | 'header' | 'basic' | 'query' | 'none';

export type ConnectorStatus = 'active' | 'disabled';

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

/** One stream holds every life of a name: `connector-<org_id>-<name>` (architecture, Streams). */
export type ConnectorEvent =
  | {
      readonly type: 'ConnectorCreated';
      readonly data: {
        readonly org: OrgId;
        readonly connector: ConnectorId;
        readonly name: string;
        readonly type: ConnectorType;
        readonly description: string | null;
        /** As stored: defaults filled in. */
        readonly config: JsonObject;
        /** Digest of the config in RFC 8785 form. */
        readonly config_hash: Digest;
        readonly at: string;
      };
    }
  | {
      readonly type: 'ConnectorUpdated';
      /** Only members that changed are present; `config` and `config_hash` come together. */
      readonly data: {
        readonly connector: ConnectorId;
        readonly description?: string | null;
        readonly status?: ConnectorStatus;
        readonly config?: JsonObject;
        readonly config_hash?: Digest;
        readonly at: string;
      };
    }
  | {
      /** A safety breaker, not a person (document 3, Payments): an admin enables it again with ConnectorUpdated. */
      readonly type: 'ConnectorDisabled';
      readonly data: { readonly connector: ConnectorId; readonly reason: string; readonly at: string };
    }
  | { readonly type: 'ConnectorDeleted'; readonly data: { readonly connector: ConnectorId; readonly at: string } }
  | {
      readonly type: 'ConnectorCredentialsUpdated';
      readonly data: CredentialFacts & { readonly connector: ConnectorId; readonly at: string };
    }
  | {
      readonly type: 'ConnectorCredentialsRemoved';
      readonly data: { readonly connector: ConnectorId; readonly version: string; readonly at: string };
    };
