import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DomainError, type CommandMetadata, type MembershipId } from '../../kernel/index.js';
import type { LivingOrganization } from '../organization.state.js';
import { ChangeMember, type MemberChange, RemoveMember } from './member.messages.js';
import { Members } from './members.js';

@CommandHandler(ChangeMember)
export class ChangeMemberHandler implements ICommandHandler<ChangeMember> {
  constructor(private readonly members: Members) {}

  /** @throws {DomainError} not_found, insufficient_role, last_owner, conflict */
  async execute({ org, membership, changes, metadata }: ChangeMember): Promise<MemberChange> {
    const { role, keepKeys = [], references, chatAccounts } = changes;
    if (role !== undefined) {
      await this.members.run(org, { type: 'ChangeMemberRole', data: { membership, role, keepKeys }, metadata });
      this.members.announce(org);
    }
    if (references !== undefined || chatAccounts !== undefined) {
      const data = {
        membership,
        ...(references === undefined ? {} : { references }),
        ...(chatAccounts === undefined ? {} : { chatAccounts }),
      };
      await this.members.run(org, { type: 'ChangeMemberReferences', data, metadata: referencesCommand(metadata) });
    }
    return withMember(await this.members.organization(org), membership);
  }
}

@CommandHandler(RemoveMember)
export class RemoveMemberHandler implements ICommandHandler<RemoveMember> {
  constructor(private readonly members: Members) {}

  /**
   * The sessions of the person in this organization are over with the answer, and the admin keys, but for those to be kept.
   * @throws {DomainError} not_found, insufficient_role, last_owner; validation_failed: one to be kept is not the person's
   */
  async execute({ org, membership, metadata, keepKeys }: RemoveMember): Promise<MemberChange> {
    const data = { membership, keepKeys };
    const organization = await this.members.run(org, { type: 'RemoveMember', data, metadata });
    this.members.announce(org);
    return withMember(organization, membership);
  }
}

/** A step of its own: the command id of the first would say that it was done. */
export const referencesCommand = (metadata: CommandMetadata): CommandMetadata => ({
  ...metadata,
  commandId: `${metadata.commandId}:references`,
});

const withMember = (organization: LivingOrganization, membership: MembershipId): MemberChange => {
  const member = organization.members.get(membership);
  if (!member) throw new DomainError('not_found');
  return { organization, member };
};
