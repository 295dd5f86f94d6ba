import {
  deedOf,
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
import {
  organizationDecider,
  personDecider,
  type LivingOrganization,
  type OrganizationCommand,
} from '../../people/index.js';
import type { AgentCommand } from '../agent.commands.js';
import { agentDecider } from '../agent.decider.js';
import type { LivingAgent } from '../agent.state.js';
import type { IssueKeys } from '../issue-keys.js';
import { announced } from './announced.js';

export interface AgentChange {
  readonly agent: LivingAgent;
  /** Null when the agent already was as asked; of several the first. */
  readonly deed: DeedId | null;
  /** Of each thing that changed now. */
  readonly deeds: readonly DeedId[];
  /** An earlier try of the same command had succeeded; nothing changed now. */
  readonly isReplay: boolean;
}

export interface IntentKeyChange extends AgentChange {
  readonly kid: string;
}

export interface OrganizationChange {
  readonly organization: LivingOrganization;
  /** Null when the organization already was as asked. */
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

/**
 * What the handlers of agents, of admin keys and of the Stop of an organization share. Every change holds for every call
 * that starts after it is answered.
 */
export class AgentKernel {
  constructor(
    private readonly runner: CommandRunner,
    readonly keys: IssueKeys,
    readonly randomness: Randomness,
    private readonly bus: Bus,
  ) {}

  /** Changes an agent, or makes it. @throws {DomainError} what `agentDecider` refuses with */
  async run(agent: AgentId, command: AgentCommand): Promise<AgentChange> {
    const { folded, events, isReplay } = await this.runner.run(agentDecider, agent, command, command.metadata);
    const deeds = events.flatMap((event) => deedOf(event) ?? []);
    return { agent: folded.state as LivingAgent, deed: deeds[0] ?? null, deeds, isReplay };
  }

  /** The same, and ends the waits of its calls that must end by it. */
  change(org: OrgId, agent: AgentId, command: AgentCommand, what: 'agents' | 'keys' = 'agents'): Promise<AgentChange> {
    return announced(this.run(agent, command), this.bus, org, what);
  }

  async createPerson(user: UserId, metadata: CommandMetadata): Promise<void> {
    const command = { type: 'CreatePerson' as const, data: { user }, metadata: { ...metadata, org: null } };
    await this.runner.run(personDecider, user, command, command.metadata);
  }

  /** Changes an organization, or makes it. @throws {DomainError} what `organizationDecider` refuses with */
  async runOnOrganization(org: OrgId, command: OrganizationCommand): Promise<OrganizationChange> {
    const { folded, events, isReplay } = await this.runner.run(organizationDecider, org, command, command.metadata);
    const [first] = events;
    return { organization: folded.state as LivingOrganization, deed: first ? deedOf(first) : null, isReplay };
  }

  /** The same, and ends the waits of its calls that must end by it. */
  changeOrganization(org: OrgId, command: OrganizationCommand): Promise<OrganizationChange> {
    return announced(this.runOnOrganization(org, command), this.bus, org, 'organization');
  }
}
