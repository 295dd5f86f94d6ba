import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { checkedReason } from '../../kernel/index.js';
import { type AgentChange, AgentKernel } from './agent-kernel.js';
import { ChangeAgent, ResumeAgent, StopAgent, SuspendAgent } from './agent.messages.js';
import { checkedSettings } from './checked-settings.js';

@CommandHandler(ChangeAgent)
export class ChangeAgentHandler implements ICommandHandler<ChangeAgent> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found, conflict (no intent key, for `required`), validation_failed */
  async execute({ org, agent, settings, metadata }: ChangeAgent): Promise<AgentChange> {
    return this.kernel.change(org, agent, { type: 'ChangeAgent', data: checkedSettings(settings), metadata });
  }
}

@CommandHandler(StopAgent)
export class StopAgentHandler implements ICommandHandler<StopAgent> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found, validation_failed */
  async execute({ org, agent, reason, metadata }: StopAgent): Promise<AgentChange> {
    const data = { reason: checkedReason(reason) };
    return this.kernel.change(org, agent, { type: 'StopAgent', data, metadata });
  }
}

@CommandHandler(SuspendAgent)
export class SuspendAgentHandler implements ICommandHandler<SuspendAgent> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found, validation_failed */
  async execute({ org, agent, reason, metadata }: SuspendAgent): Promise<AgentChange> {
    const data = { reason: checkedReason(reason) };
    return this.kernel.change(org, agent, { type: 'SuspendAgent', data, metadata });
  }
}

@CommandHandler(ResumeAgent)
export class ResumeAgentHandler implements ICommandHandler<ResumeAgent> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found, validation_failed */
  async execute({ org, agent, reason, metadata }: ResumeAgent): Promise<AgentChange> {
    const data = { reason: checkedReason(reason) };
    return this.kernel.change(org, agent, { type: 'ResumeAgent', data, metadata });
  }
}
