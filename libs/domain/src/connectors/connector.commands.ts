import type { Digest, JsonObject } from '#libs/crypto';

import type { CommandMetadata, ConnectorId, OrgId } from '../kernel/index.js';
import type { ConnectorStatus, ConnectorType, CredentialFacts } from './connector.events.js';
import type { AcceptanceRule, ToolList } from './discovered-tools.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

/** A config that its type's rules accepted, with its digest. */
export interface CheckedConfig {
  readonly config: JsonObject;
  readonly configHash: Digest;
}

/**
 * The life the caller means. Null means whichever is live, when the connector was addressed by name; an id that is no
 * longer the live one is not found, although the name is in use again.
 */
interface Target {
  readonly connector: ConnectorId | null;
}

export type ConnectorCommand =
  | Command<
      'CreateConnector',
      CheckedConfig & {
        readonly org: OrgId;
        readonly connector: ConnectorId;
        readonly name: string;
        readonly type: ConnectorType;
        readonly description: string | null;
      }
    >
  /** Absent members stay as they are. */
  | Command<
      'UpdateConnector',
      Target & {
        readonly description?: string | null;
        readonly status?: ConnectorStatus;
        readonly config?: CheckedConfig;
        /** As the client sent it; anything but the current hash is a conflict. */
        readonly expectedConfigHash?: string;
      }
    >
  | Command<'DisableConnector', Target & { readonly reason: string; readonly upstreamRequestId: string | null }>
  | Command<'DeleteConnector', Target>
  | Command<'PutCredentials', Target & { readonly credential: CredentialFacts }>
  | Command<'RemoveCredentials', Target>
  | Command<
      'RecordTools',
      Target & {
        readonly list: ToolList;
        readonly rule: AcceptanceRule;
        /** As they were when the list was asked for: a list of another server or from before another list is refused. */
        readonly since: { readonly configHash: Digest; readonly listDigest: Digest | null };
      }
    >
  /** The definitions are as the client sent them; another than the one that the server shows is a conflict. */
  | Command<
      'AcceptTools',
      Target & { readonly tools: readonly { readonly name: string; readonly definition: string }[] }
    >;
