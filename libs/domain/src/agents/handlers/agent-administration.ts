import {
  checkedReason,
  deedOf,
  DomainError,
  idOf,
  type AgentId,
  type Bus,
  type CommandMetadata,
  type CommandRunner,
  type DeedId,
  type KeyId,
  type OrgId,
  type Randomness,
  type UserId,
} from '../../kernel/index.js';
import type { AgentCommand } from '../agent.commands.js';
import { agentDecider } from '../agent.decider.js';
import { AGENT_SCOPES, type AgentScope } from '../agent.events.js';
import type { LivingAgent } from '../agent.state.js';
import type { IssueKeys } from '../issue-keys.js';
import { announced } from './announced.js';
import { checkedName, overlapEnd } from './checked-input.js';

export interface AgentChange {
  readonly agent: LivingAgent;
  /** Null when the agent already was as asked. */
  readonly deed: DeedId | null;
  /** An earlier try of the same command had succeeded; nothing changed now. */
  readonly isReplay: boolean;
}

export interface NewKey {
  readonly key: KeyId;
  /** The whole key; null when a retry found it made already: it is shown once. */
  readonly secret: string | null;
  readonly deed: DeedId | null;
}

/** A retry has no secret to show: the one minted for it belongs to no key. */
export const newKeyOf = (
  key: KeyId,
  secret: string,
  { isReplay, deed }: { readonly isReplay: boolean; readonly deed: DeedId | null },
): NewKey => ({ key, secret: isReplay ? null : secret, deed });

/** What may be done to agents and their keys. Every change holds for every call that starts after it is answered. */
export class AgentAdministration {
  constructor(
    private readonly runner: CommandRunner,
    private readonly keys: IssueKeys,
    private readonly randomness: Randomness,
    private readonly bus: Bus,
  ) {}

  /** @throws {DomainError} validation_failed */
  async register(
    org: OrgId,
    described: { name: string; labels?: Readonly<Record<string, string>>; owner: UserId | null },
    metadata: CommandMetadata,
    agent: AgentId = idOf('agt', this.randomness.bytes(16)),
  ): Promise<AgentChange> {
    const data = { org, agent, labels: {}, ...described, name: checkedName(described.name) };
    return this.run(agent, { type: 'RegisterAgent', data, metadata });
  }

  /** @throws {DomainError} not_found, conflict (10 active keys), validation_failed */
  async createKey(
    org: OrgId,
    agent: AgentId,
    wanted: { livemode: boolean; scopes?: readonly AgentScope[] },
    metadata: CommandMetadata,
  ): Promise<NewKey> {
    const scopes = wanted.scopes ?? AGENT_SCOPES;
    if (scopes.length === 0)
      throw new DomainError('validation_failed', { param: 'scopes', message: 'A key must have at least one scope.' });
    const { record, secret } = await this.keys.mint({ kind: 'agent', org, agent }, wanted.livemode, metadata.commandId);
    const change = await this.run(agent, { type: 'CreateAgentKey', data: { record, scopes }, metadata });
    return newKeyOf(record.key, secret, change);
  }

  /** The old key works until the overlap ends. @throws {DomainError} not_found, conflict, validation_failed */
  async rollKey(
    org: OrgId,
    agent: AgentId,
    roll: { key: KeyId; livemode: boolean; overlapSeconds?: number },
    metadata: CommandMetadata,
  ): Promise<NewKey> {
    const expiresAt = overlapEnd(metadata.now, roll.overlapSeconds);
    const { record, secret } = await this.keys.mint({ kind: 'agent', org, agent }, roll.livemode, metadata.commandId);
    const data = { key: roll.key, successor: record, expiresAt };
    const rolled = this.run(agent, { type: 'RollAgentKey', data, metadata });
    const change = await announced(rolled, this.bus, org, 'keys');
    return newKeyOf(record.key, secret, change);
  }

  async revokeKey(org: OrgId, agent: AgentId, key: KeyId, metadata: CommandMetadata): Promise<AgentChange> {
    return this.announced(org, this.run(agent, { type: 'RevokeAgentKey', data: { key }, metadata }));
  }

  async stop(org: OrgId, agent: AgentId, reason: string | null, metadata: CommandMetadata): Promise<AgentChange> {
    const data = { reason: checkedReason(reason) };
    return this.announced(org, this.run(agent, { type: 'StopAgent', data, metadata }));
  }

  async suspend(org: OrgId, agent: AgentId, reason: string | null, metadata: CommandMetadata): Promise<AgentChange> {
    const data = { reason: checkedReason(reason) };
    return this.announced(org, this.run(agent, { type: 'SuspendAgent', data, metadata }));
  }

  async resume(org: OrgId, agent: AgentId, reason: string | null, metadata: CommandMetadata): Promise<AgentChange> {
    const data = { reason: checkedReason(reason) };
    return this.announced(org, this.run(agent, { type: 'ResumeAgent', data, metadata }));
  }

  private announced(org: OrgId, change: Promise<AgentChange>): Promise<AgentChange> {
    return announced(change, this.bus, org, 'agents');
  }

  private async run(agent: AgentId, command: AgentCommand): Promise<AgentChange> {
    const { folded, events, isReplay } = await this.runner.run(agentDecider, agent, command, command.metadata);
    const [first] = events;
    return { agent: folded.state as LivingAgent, deed: first ? deedOf(first) : null, isReplay };
  }
}
