import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { LivingOrganization } from '../organization.state.js';
import { UpdateOrganization } from './member.messages.js';
import { Members } from './members.js';

@CommandHandler(UpdateOrganization)
export class UpdateOrganizationHandler implements ICommandHandler<UpdateOrganization> {
  constructor(private readonly members: Members) {}

  /** @throws {DomainError} insufficient_role */
  async execute({ org, changes, metadata }: UpdateOrganization): Promise<LivingOrganization> {
    return this.members.run(org, { type: 'UpdateOrganization', data: changes, metadata });
  }
}
