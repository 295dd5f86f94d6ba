import { Command } from '@nestjs/cqrs';
import type { CommandMetadata, KeyId, OrgId, Timestamp, UserId } from '../../kernel/index.js';
import type { NewKey, OrganizationChange } from './agent-kernel.js';
import type { KeyRoll } from './agent.messages.js';

/** A new organization and the person who owns it: at the command line and at the first start. */
export class CreateOrganization extends Command<OrganizationChange> {
  constructor(
    readonly name: string,
    readonly metadata: CommandMetadata,
    /** With the ids of an earlier try it goes on where that one ended. Default: new ones. */
    readonly ids?: { readonly org: OrgId; readonly owner: UserId },
  ) {
    super();
  }
}

/** `POST /v1/org/stop`: stops every agent of the organization. */
export class StopOrganization extends Command<OrganizationChange> {
  constructor(
    readonly org: OrgId,
    readonly reason: string | null,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/org/start`. */
export class StartOrganization extends Command<OrganizationChange> {
  constructor(
    readonly org: OrgId,
    readonly reason: string | null,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/org/keys`. */
export class CreateAdminKey extends Command<NewKey> {
  constructor(
    readonly org: OrgId,
    readonly livemode: boolean,
    readonly metadata: CommandMetadata,
    readonly expiresAt: Timestamp | null = null,
  ) {
    super();
  }
}

/** `POST /v1/org/keys/{id}/roll`. */
export class RollAdminKey extends Command<NewKey> {
  constructor(
    readonly org: OrgId,
    readonly roll: KeyRoll,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `DELETE /v1/org/keys/{id}`. */
export class RevokeAdminKey extends Command<OrganizationChange> {
  constructor(
    readonly org: OrgId,
    readonly key: KeyId,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}
