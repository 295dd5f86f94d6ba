import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { checkedReason } from '../../kernel/index.js';
import { AgentKernel, type OrganizationChange } from './agent-kernel.js';
import { StartOrganization, StopOrganization } from './organization.messages.js';

@CommandHandler(StopOrganization)
export class StopOrganizationHandler implements ICommandHandler<StopOrganization> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} validation_failed */
  async execute({ org, reason, metadata }: StopOrganization): Promise<OrganizationChange> {
    const data = { reason: checkedReason(reason) };
    return this.kernel.changeOrganization(org, { type: 'StopOrganization', data, metadata });
  }
}

@CommandHandler(StartOrganization)
export class StartOrganizationHandler implements ICommandHandler<StartOrganization> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} validation_failed */
  async execute({ org, reason, metadata }: StartOrganization): Promise<OrganizationChange> {
    const data = { reason: checkedReason(reason) };
    return this.kernel.changeOrganization(org, { type: 'StartOrganization', data, metadata });
  }
}
