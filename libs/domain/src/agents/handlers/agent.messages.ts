import { Command } from '@nestjs/cqrs';
import type { AgentId, CommandMetadata, KeyId, OrgId, UserId } from '../../kernel/index.js';
import type { AgentSettings } from '../agent.commands.js';
import type { AgentScope } from '../agent.events.js';
import type { AgentChange, IntentKeyChange, NewKey } from './agent-kernel.js';

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

/** Which key is rolled, and until when the old one works: a day where nothing is said. */
export interface KeyRoll {
  readonly key: KeyId;
  readonly livemode: boolean;
  readonly overlapSeconds?: number;
}

/** `POST /v1/agents`. */
export class RegisterAgent extends Command<RegisteredAgent> {
  constructor(
    readonly org: OrgId,
    readonly described: DescribedAgent,
    readonly metadata: CommandMetadata,
    /** With the id of an earlier try it goes on where that one ended. Default: a new one. */
    readonly agent?: AgentId,
  ) {
    super();
  }
}

/** `PATCH /v1/agents/{id}`. */
export class ChangeAgent extends Command<AgentChange> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly settings: AgentSettings,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/agents/{id}/intent-keys`. The key is as it was sent: the handler judges it. */
export class AddIntentKey extends Command<IntentKeyChange> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly publicKey: unknown,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `DELETE /v1/agents/{id}/intent-keys/{kid}`. */
export class RemoveIntentKey extends Command<IntentKeyChange> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly kid: string,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/agents/{id}/keys`. */
export class CreateAgentKey extends Command<NewKey> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly wanted: WantedKey,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/agents/{id}/keys/{key}/roll`. */
export class RollAgentKey extends Command<NewKey> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly roll: KeyRoll,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `DELETE /v1/agents/{id}/keys/{key}`. */
export class RevokeAgentKey extends Command<AgentChange> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly key: KeyId,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/agents/{id}/stop`. */
export class StopAgent extends Command<AgentChange> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly reason: string | null,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/agents/{id}/suspend`. */
export class SuspendAgent extends Command<AgentChange> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly reason: string | null,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `POST /v1/agents/{id}/resume`. */
export class ResumeAgent extends Command<AgentChange> {
  constructor(
    readonly org: OrgId,
    readonly agent: AgentId,
    readonly reason: string | null,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}
