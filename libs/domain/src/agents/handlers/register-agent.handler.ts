import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { checkedName, idOf } from '../../kernel/index.js';
import { AGENT_SCOPES } from '../agent.events.js';
import { AgentKernel, newKeyOf } from './agent-kernel.js';
import { RegisterAgent, type RegisteredAgent } from './agent.messages.js';
import { checkedLabels, checkedScopes, checkedSettings } from './checked-settings.js';

@CommandHandler(RegisterAgent)
export class RegisterAgentHandler implements ICommandHandler<RegisterAgent> {
  constructor(private readonly kernel: AgentKernel) {}

  /** @throws {DomainError} validation_failed, conflict */
  async execute({ org, described, metadata, agent: known }: RegisterAgent): Promise<RegisteredAgent> {
    const { keys, randomness } = this.kernel;
    const agent = known ?? idOf('agt', randomness.bytes(16));
    const { name, labels = {}, owner, settings = {}, key: wanted } = described;
    const named = { org, agent, name: checkedName(name), labels: checkedLabels(labels), owner };
    const checked = { ...named, settings: checkedSettings(settings) };
    if (!wanted) {
      const change = await this.kernel.run(agent, { type: 'RegisterAgent', data: checked, metadata });
      return { ...change, key: null };
    }
    const scopes = checkedScopes(wanted.scopes ?? AGENT_SCOPES);
    const { record, secret } = await keys.mint({ kind: 'agent', org, agent }, wanted.livemode, metadata.commandId);
    const data = { ...checked, key: { record, scopes } };
    const change = await this.kernel.run(agent, { type: 'RegisterAgent', data, metadata });
    return { ...change, key: newKeyOf(record.key, secret, change) };
  }
}
