import { Injectable } from '@nestjs/common';
import { type Agent, agentDecider, type AgentKey, KeyDirectory, type NamedKey } from '#libs/domain/agents';
import { type AgentId, FoldedStreams, type KeyId, type OrgId, streamRef } from '#libs/domain/kernel';
import { keyPrefix } from './agent.view.js';

/** Keys of agents by what people call them: a call is recorded under the id of its key, and people see how a key begins. */
@Injectable()
export class NamedKeys {
  constructor(
    private readonly directory: KeyDirectory,
    private readonly streams: FoldedStreams,
  ) {}

  /** Null where no agent of the organization ever had it: also for an admin key, and for a key of another organization. */
  async idOf(org: OrgId, named: NamedKey): Promise<KeyId | null> {
    if ('id' in named) return named.id;
    const holder = await this.directory.find(named.prefix);
    if (holder?.kind !== 'agent' || holder.org !== org) return null;
    const { state } = await this.streams.load(streamRef(agentDecider, holder.agent));
    return keysOf(state).find(({ prefix }) => prefix === named.prefix)?.key ?? null;
  }

  /** How it begins, as lists show it. What is remembered of its agent is enough where it is there: no key changes its beginning. */
  async prefixOf(agent: AgentId, id: KeyId): Promise<string | null> {
    const ref = streamRef(agentDecider, agent);
    const remembered = keyIn((await this.streams.remembered(ref)).state, id);
    const key = remembered ?? keyIn((await this.streams.load(ref)).state, id);
    return key === undefined ? null : keyPrefix(key);
  }
}

const keysOf = (agent: Agent): readonly AgentKey[] => (agent.status === 'none' ? [] : [...agent.keys.values()]);

const keyIn = (agent: Agent, id: KeyId): AgentKey | undefined => keysOf(agent).find(({ key }) => key === id);
