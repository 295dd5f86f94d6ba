import { Command } from '@nestjs/cqrs';
import type { CommandMetadata, KeyId, MembershipId, OrgId } from '../../kernel/index.js';
import type { MailAddress } from '../mail-address.js';
import type { Membership } from '../membership.js';
import type { OrganizationChanges } from '../organization.commands.js';
import type { LivingOrganization } from '../organization.state.js';
import type { Role } from '../role.js';

export interface MemberChange {
  readonly organization: LivingOrganization;
  readonly member: Membership;
}

export interface InvitedMember extends MemberChange {
  /** False where somebody who is invited already was sent a fresh link. */
  readonly isNew: boolean;
}

export interface MemberChanges {
  readonly role?: Role;
  /** With a role below admin: which admin keys of the person are not revoked. */
  readonly keepKeys?: readonly KeyId[];
  readonly references?: readonly string[];
  readonly chatAccounts?: readonly string[];
}

/** `POST /v1/org/members`: invites a person, or again with a fresh link. */
export class InviteMember extends Command<InvitedMember> {
  constructor(
    readonly org: OrgId,
    readonly invited: { readonly address: MailAddress; readonly role: Role },
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `PATCH /v1/org/members/{id}`. A role and references at once are two events and two deeds. */
export class ChangeMember extends Command<MemberChange> {
  constructor(
    readonly org: OrgId,
    readonly membership: MembershipId,
    readonly changes: MemberChanges,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `DELETE /v1/org/members/{id}`. */
export class RemoveMember extends Command<MemberChange> {
  constructor(
    readonly org: OrgId,
    readonly membership: MembershipId,
    readonly metadata: CommandMetadata,
    /** Which admin keys of the person are not revoked. */
    readonly keepKeys: readonly KeyId[] = [],
  ) {
    super();
  }
}

/** `PATCH /v1/org`. */
export class UpdateOrganization extends Command<LivingOrganization> {
  constructor(
    readonly org: OrgId,
    readonly changes: OrganizationChanges,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}
