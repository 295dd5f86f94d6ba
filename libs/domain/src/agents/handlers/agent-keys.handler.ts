import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AGENT_SCOPES } from '../agent.events.js';
import { type AgentChange, AgentKernel, type NewKey, newKeyOf } from './agent-kernel.js';
import { CreateAgentKey, RevokeAgentKey, RollAgentKey } from './agent.messages.js';
import { overlapEnd } from './checked-input.js';
import { checkedScopes } from './checked-settings.js';

@CommandHandler(CreateAgentKey)
export class CreateAgentKeyHandler implements ICommandHandler<CreateAgentKey> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found, conflict (10 active keys), validation_failed */
  async execute({ org, agent, wanted, metadata }: CreateAgentKey): Promise<NewKey> {
    const scopes = checkedScopes(wanted.scopes ?? AGENT_SCOPES);
    const holder = { kind: 'agent', org, agent } as const;
    const { record, secret } = await this.kernel.keys.mint(holder, wanted.livemode, metadata.commandId);
    const command = { type: 'CreateAgentKey' as const, data: { record, scopes }, metadata };
    return newKeyOf(record.key, secret, await this.kernel.change(org, agent, command, 'keys'));
  }
}

@CommandHandler(RollAgentKey)
export class RollAgentKeyHandler implements ICommandHandler<RollAgentKey> {
  constructor(private readonly kernel: AgentKernel) {}

  /** The old key works until the overlap ends. @throws {DomainError} not_found, conflict, validation_failed */
  async execute({ org, agent, roll, metadata }: RollAgentKey): Promise<NewKey> {
    const expiresAt = overlapEnd(metadata.now, roll.overlapSeconds);
    const holder = { kind: 'agent', org, agent } as const;
    const { record, secret } = await this.kernel.keys.mint(holder, roll.livemode, metadata.commandId);
    const data = { key: roll.key, successor: record, expiresAt };
    const change = await this.kernel.change(org, agent, { type: 'RollAgentKey', data, metadata }, 'keys');
    return newKeyOf(record.key, secret, change);
  }
}

@CommandHandler(RevokeAgentKey)
export class RevokeAgentKeyHandler implements ICommandHandler<RevokeAgentKey> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found */
  async execute({ org, agent, key, metadata }: RevokeAgentKey): Promise<AgentChange> {
    return this.kernel.change(org, agent, { type: 'RevokeAgentKey', data: { key }, metadata });
  }
}
