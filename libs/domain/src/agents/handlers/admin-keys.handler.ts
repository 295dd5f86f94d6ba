import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AgentKernel, type NewKey, newKeyOf, type OrganizationChange } from './agent-kernel.js';
import { overlapEnd } from './checked-input.js';
import { CreateAdminKey, RevokeAdminKey, RollAdminKey } from './organization.messages.js';

@CommandHandler(CreateAdminKey)
export class CreateAdminKeyHandler implements ICommandHandler<CreateAdminKey> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found, conflict (10 active keys), validation_failed (an end that is over) */
  async execute({ org, livemode, metadata, expiresAt }: CreateAdminKey): Promise<NewKey> {
    const { record, secret } = await this.kernel.keys.mint({ kind: 'org', org }, livemode, metadata.commandId);
    const command = { type: 'CreateAdminKey' as const, data: { record, expiresAt }, metadata };
    return newKeyOf(record.key, secret, await this.kernel.runOnOrganization(org, command));
  }
}

@CommandHandler(RollAdminKey)
export class RollAdminKeyHandler implements ICommandHandler<RollAdminKey> {
  constructor(private readonly kernel: AgentKernel) {}

  /** The old key works until the overlap ends. @throws {DomainError} not_found, conflict, validation_failed */
  async execute({ org, roll, metadata }: RollAdminKey): Promise<NewKey> {
    const expiresAt = overlapEnd(metadata.now, roll.overlapSeconds);
    const { record, secret } = await this.kernel.keys.mint({ kind: 'org', org }, roll.livemode, metadata.commandId);
    const data = { key: roll.key, successor: record, expiresAt };
    const change = await this.kernel.changeOrganization(org, { type: 'RollAdminKey', data, metadata });
    return newKeyOf(record.key, secret, change);
  }
}

@CommandHandler(RevokeAdminKey)
export class RevokeAdminKeyHandler implements ICommandHandler<RevokeAdminKey> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found */
  async execute({ org, key, metadata }: RevokeAdminKey): Promise<OrganizationChange> {
    return this.kernel.changeOrganization(org, { type: 'RevokeAdminKey', data: { key }, metadata });
  }
}
