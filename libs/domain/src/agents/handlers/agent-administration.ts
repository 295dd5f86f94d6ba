import {
  checkedName,
  checkedReason,
  deedOf,
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
import type { AgentCommand, AgentSettings } from '../agent.commands.js';
import { agentDecider } from '../agent.decider.js';
import { AGENT_SCOPES, type AgentScope } from '../agent.events.js';
import type { LivingAgent } from '../agent.state.js';
import type { IssueKeys } from '../issue-keys.js';
import { announced } from './announced.js';
import { overlapEnd } from './checked-input.js';
import { checkedLabels, checkedPublicKey, checkedScopes, checkedSettings } from './checked-settings.js';

export interface AgentChange {
  readonly agent: LivingAgent;
  /** Null when the agent already was as asked; of several the first. */
  readonly deed: DeedId | null;
  /** Of each thing that changed now. */
  readonly deeds: readonly DeedId[];
  /** An earlier try of the same command had succeeded; nothing changed now. */
  readonly isReplay: boolean;
}

export interface WantedKey {
  readonly livemode: boolean;
  /** Default: all that an agent's key can have. */
  readonly scopes?: readonly AgentScope[];
}

export interface DescribedAgent {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner: UserId | null;
  readonly settings?: Omit<AgentSettings, 'labels'>;
  /** Its first key, made with it. */
  readonly key?: WantedKey;
}

export interface RegisteredAgent extends AgentChange {
  /** Null where none was asked for. */
  readonly key: Omit<NewKey, 'deed'> | null;
}

export interface IntentKeyChange extends AgentChange {
  readonly kid: string;
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

  /**
   * With the id of an earlier try it goes on where that one ended.
   * @throws {DomainError} validation_failed, conflict
   */
  async register(
    org: OrgId,
    { name, labels = {}, owner, settings = {}, key: wanted }: DescribedAgent,
    metadata: CommandMetadata,
    agent: AgentId = idOf('agt', this.randomness.bytes(16)),
  ): Promise<RegisteredAgent> {
    const described = { org, agent, name: checkedName(name), labels: checkedLabels(labels), owner };
    const checked = { ...described, settings: checkedSettings(settings) };
    if (!wanted) {
      const change = await this.run(agent, { type: 'RegisterAgent', data: checked, metadata });
      return { ...change, key: null };
    }
    const scopes = checkedScopes(wanted.scopes ?? AGENT_SCOPES);
    const { record, secret } = await this.keys.mint({ kind: 'agent', org, agent }, wanted.livemode, metadata.commandId);
    const data = { ...checked, key: { record, scopes } };
    const change = await this.run(agent, { type: 'RegisterAgent', data, metadata });
    return { ...change, key: newKeyOf(record.key, secret, change) };
  }

  /** @throws {DomainError} not_found, conflict (no intent key, for `required`), validation_failed */
  async change(org: OrgId, agent: AgentId, settings: AgentSettings, metadata: CommandMetadata): Promise<AgentChange> {
    const data = checkedSettings(settings);
    return this.announced(org, this.run(agent, { type: 'ChangeAgent', data, metadata }));
  }

  /** @throws {DomainError} not_found, conflict (a third, or one that is there), validation_failed (422) */
  async addIntentKey(
    org: OrgId,
    agent: AgentId,
    publicKey: unknown,
    metadata: CommandMetadata,
  ): Promise<IntentKeyChange> {
    const { kid, text } = checkedPublicKey(publicKey);
    const command = { type: 'AddIntentKey' as const, data: { kid, publicKey: text }, metadata };
    return { ...(await this.announced(org, this.run(agent, command))), kid };
  }

  /** @throws {DomainError} not_found, conflict (the last of an agent that must sign) */
  async removeIntentKey(org: OrgId, agent: AgentId, kid: string, metadata: CommandMetadata): Promise<IntentKeyChange> {
    const command = { type: 'RemoveIntentKey' as const, data: { kid }, metadata };
    return { ...(await this.announced(org, this.run(agent, command))), kid };
  }

  /** @throws {DomainError} not_found, conflict (10 active keys), validation_failed */
  async createKey(org: OrgId, agent: AgentId, wanted: WantedKey, metadata: CommandMetadata): Promise<NewKey> {
    const scopes = checkedScopes(wanted.scopes ?? AGENT_SCOPES);
    const { record, secret } = await this.keys.mint({ kind: 'agent', org, agent }, wanted.livemode, metadata.commandId);
    const created = this.run(agent, { type: 'CreateAgentKey', data: { record, scopes }, metadata });
    const change = await announced(created, this.bus, org, 'keys');
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
    const deeds = events.flatMap((event) => deedOf(event) ?? []);
    return { agent: folded.state as LivingAgent, deed: deeds[0] ?? null, deeds, isReplay };
  }
}
