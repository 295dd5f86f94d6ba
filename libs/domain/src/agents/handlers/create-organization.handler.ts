import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { checkedName, idOf, LATEST_API_VERSION } from '../../kernel/index.js';
import { AgentKernel, type OrganizationChange } from './agent-kernel.js';
import { CreateOrganization } from './organization.messages.js';

@CommandHandler(CreateOrganization)
export class CreateOrganizationHandler implements ICommandHandler<CreateOrganization> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} validation_failed */
  async execute({ name, metadata, ids }: CreateOrganization): Promise<OrganizationChange> {
    const { randomness } = this.kernel;
    const { org, owner } = ids ?? { org: idOf('org', randomness.bytes(16)), owner: idOf('usr', randomness.bytes(16)) };
    const described = { org, name: checkedName(name), timezone: 'UTC', owner };
    await this.kernel.createPerson(owner, metadata);
    const membership = idOf('mem', randomness.bytes(16));
    const data = { ...described, membership, pinned_version: LATEST_API_VERSION };
    return this.kernel.runOnOrganization(org, { type: 'CreateOrganization', data, metadata: { ...metadata, org } });
  }
}
