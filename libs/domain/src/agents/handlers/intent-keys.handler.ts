import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AgentKernel, type IntentKeyChange } from './agent-kernel.js';
import { AddIntentKey, RemoveIntentKey } from './agent.messages.js';
import { checkedPublicKey } from './checked-settings.js';

@CommandHandler(AddIntentKey)
export class AddIntentKeyHandler implements ICommandHandler<AddIntentKey> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found, conflict (a third, or one that is there), validation_failed (422) */
  async execute({ org, agent, publicKey, metadata }: AddIntentKey): Promise<IntentKeyChange> {
    const { kid, text } = checkedPublicKey(publicKey);
    const data = { kid, publicKey: text };
    return { ...(await this.kernel.change(org, agent, { type: 'AddIntentKey', data, metadata })), kid };
  }
}

@CommandHandler(RemoveIntentKey)
export class RemoveIntentKeyHandler implements ICommandHandler<RemoveIntentKey> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} not_found, conflict (the last of an agent that must sign) */
  async execute({ org, agent, kid, metadata }: RemoveIntentKey): Promise<IntentKeyChange> {
    return { ...(await this.kernel.change(org, agent, { type: 'RemoveIntentKey', data: { kid }, metadata })), kid };
  }
}
