import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { agentDecider, type AgentKey, type LivingAgent } from '#libs/domain/agents';
import {
  Clock,
  type CommandMetadata,
  type DeedId,
  DomainError,
  FoldedStreams,
  type KeyId,
  type OrgId,
  parseId,
  streamOf,
  streamRef,
  timestampOf,
} from '#libs/domain/kernel';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { agentView, apiKeyView } from './agent.view.js';

/** What the agent routes have in common: finding the one that a path names, and answering with it. */
@Injectable()
export class AgentAnswers {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly deeds: ChangeDeeds,
    private readonly clock: Clock,
  ) {}

  /**
   * `{id}` of a path, as its stream tells it now.
   * @throws {DomainError} not_found, also for another organization's
   */
  async find(org: OrgId, text: string): Promise<LivingAgent> {
    const id = parseId('agt', text);
    if (id) {
      const { state } = await this.streams.load(streamRef(agentDecider, id));
      if (state.status !== 'none' && state.org === org) return state;
    }
    throw new DomainError('not_found');
  }

  /** `{key}` of a path. @throws {DomainError} not_found, also for another agent's */
  keyOf(agent: LivingAgent, text: string): AgentKey {
    const id = parseId('key', text);
    const key = id && agent.keys.get(id);
    if (!key) throw new DomainError('not_found');
    return key;
  }

  view(agent: LivingAgent): JsonObject {
    return agentView(agent, timestampOf(this.clock.nowMs()));
  }

  /** The agent after a change of its status, and the deed that seals it; null when nothing changed. */
  async changed(agent: LivingAgent, command: CommandMetadata): Promise<JsonObject> {
    return { ...this.view(agent), deed: await this.deedOf(agent, command) };
  }

  /** The same for what may change several things at once, each with a deed of its own. */
  async changedWhole(agent: LivingAgent, command: CommandMetadata): Promise<JsonObject> {
    const deeds = await this.deeds.deedsOf(streamOf(agentDecider.category, agent.agent), command);
    return { ...this.view(agent), deed: deeds[0] ?? null, deeds: [...deeds] };
  }

  /** A key after its making, rolling or end. */
  async changedKey(agent: LivingAgent, key: KeyId, command: CommandMetadata): Promise<JsonObject> {
    return { ...apiKeyView(agent, agent.keys.get(key) as AgentKey), deed: await this.deedOf(agent, command) };
  }

  deedOf({ agent }: LivingAgent, command: CommandMetadata): Promise<DeedId | null> {
    return this.deeds.deedOf(streamOf(agentDecider.category, agent), command);
  }
}
