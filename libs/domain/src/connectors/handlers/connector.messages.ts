import { Command } from '@nestjs/cqrs';

import type { JsonValue } from '#libs/crypto';

import type { CommandMetadata, ConnectorId, OrgId } from '../../kernel/index.js';
import type { ConnectorStatus } from '../connector.events.js';
import type { LiveConnector } from '../connector.state.js';

/** Which connector a caller means: by name, and by id too when that is how it was addressed. */
export interface ConnectorAddress {
  readonly org: OrgId;
  readonly name: string;
  /** Null when addressed by name. An id of an earlier life of the name is not found. */
  readonly connector: ConnectorId | null;
}

/** `POST /v1/connectors`. The shape was checked; what the members hold is checked here. */
export class CreateConnector extends Command<LiveConnector> {
  constructor(
    readonly org: OrgId,
    readonly request: {
      readonly type: string;
      readonly name: string;
      readonly description: string | null;
      readonly config: JsonValue;
    },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `PATCH /v1/connectors/{id}`. Absent members stay as they are; a config is replaced whole. */
export class UpdateConnector extends Command<LiveConnector> {
  constructor(
    readonly address: ConnectorAddress,
    readonly changes: {
      readonly description?: string | null;
      readonly status?: ConnectorStatus;
      readonly config?: JsonValue;
      readonly expectedConfigHash?: string;
    },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `DELETE /v1/connectors/{id}`. */
export class DeleteConnector extends Command<void> {
  constructor(
    readonly address: ConnectorAddress,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `PUT /v1/connectors/{id}/credentials`. The secret is never logged and never stored for replay. */
export class PutCredentials extends Command<LiveConnector> {
  constructor(
    readonly address: ConnectorAddress,
    readonly credential: { readonly kind: string; readonly secret: JsonValue | undefined },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/connectors/{id}/tools/accept`: what a server changed may be called, in the definitions that were looked at. */
export class AcceptTools extends Command<LiveConnector> {
  constructor(
    readonly address: ConnectorAddress,
    readonly tools: readonly { readonly name: string; readonly definition: string }[],
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `DELETE /v1/connectors/{id}/credentials`. Without credentials nothing happens. */
export class RemoveCredentials extends Command<LiveConnector> {
  constructor(
    readonly address: ConnectorAddress,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}
