import {
  deedOf,
  DomainError,
  idOf,
  orgChannel,
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

/** Document 2, Limits. */
export const OVERLAP_MAX_SECONDS = 7 * 24 * 60 * 60;
export const OVERLAP_DEFAULT_SECONDS = 24 * 60 * 60;

const NAME_PATTERN = /^[^\p{C}]{1,120}$/u;
const REASON_MAX_CHARACTERS = 280;

export interface AgentChange {
  readonly agent: LivingAgent;
  /** Null when the agent already was as asked. */
  readonly deed: DeedId | null;
}

export interface NewKey {
  readonly key: KeyId;
  /** The whole key; null when a retry found it made already: it is shown once. */
  readonly secret: string | null;
  readonly deed: DeedId | null;
}

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
    if (!NAME_PATTERN.test(described.name)) {
      throw new DomainError('validation_failed', {
        param: 'name',
        message: 'A name has 1 to 120 characters on one line.',
      });
    }
    const data = { org, agent, labels: {}, ...described };
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
      throw new DomainError('validation_failed', { param: 'scopes', message: 'A key needs at least one scope.' });
    const { record, secret } = await this.keys.mint({ kind: 'agent', org, agent }, wanted.livemode);
    const change = await this.run(agent, { type: 'CreateAgentKey', data: { record, scopes }, metadata });
    return { key: record.key, secret, deed: change.deed };
  }

  /** The old key works until the overlap ends. @throws {DomainError} not_found, conflict, validation_failed */
  async rollKey(
    org: OrgId,
    agent: AgentId,
    roll: { key: KeyId; livemode: boolean; overlapSeconds?: number },
    metadata: CommandMetadata,
  ): Promise<NewKey> {
    const expiresAt = overlapEnd(metadata.now, roll.overlapSeconds ?? OVERLAP_DEFAULT_SECONDS);
    const { record, secret } = await this.keys.mint({ kind: 'agent', org, agent }, roll.livemode);
    const data = { key: roll.key, successor: record, expiresAt };
    const change = await this.run(agent, { type: 'RollAgentKey', data, metadata });
    this.bus.publish(orgChannel(org), 'keys');
    return { key: record.key, secret, deed: change.deed };
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

  /** Ends waits early; what makes the change hold is the stream. */
  private async announced(org: OrgId, change: Promise<AgentChange>): Promise<AgentChange> {
    const done = await change;
    this.bus.publish(orgChannel(org), 'agents');
    return done;
  }

  private async run(agent: AgentId, command: AgentCommand): Promise<AgentChange> {
    const { folded, events } = await this.runner.run(agentDecider, agent, command, command.metadata);
    const [first] = events;
    return { agent: folded.state as LivingAgent, deed: first ? deedOf(first) : null };
  }
}

/** @throws {DomainError} validation_failed */
export const overlapEnd = (now: string, overlapSeconds: number): string => {
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > OVERLAP_MAX_SECONDS) {
    throw new DomainError('validation_failed', {
      param: 'overlap_seconds',
      message: `The overlap is 0 to ${OVERLAP_MAX_SECONDS} seconds (7 days).`,
    });
  }
  return new Date(Date.parse(now) + overlapSeconds * 1000).toISOString();
};

/** One line, short enough for every deed. @throws {DomainError} validation_failed */
export const checkedReason = (reason: string | null): string | null => {
  if (reason === null) return null;
  const isFine = reason.length > 0 && [...reason].length <= REASON_MAX_CHARACTERS && !/\p{C}/u.test(reason);
  if (isFine) return reason;
  throw new DomainError('validation_failed', {
    param: 'reason',
    message: `A reason has 1 to ${REASON_MAX_CHARACTERS} characters on one line.`,
  });
};
