import type { AgentId, CommandMetadata, KeyId, OrgId, Timestamp, UserId } from '../kernel/index.js';
import type { KeyRecord } from '../people/index.js';
import type { AgentScope } from './agent.events.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

export type AgentCommand =
  | Command<
      'RegisterAgent',
      { org: OrgId; agent: AgentId; name: string; labels: Readonly<Record<string, string>>; owner: UserId | null }
    >
  | Command<'CreateAgentKey', { record: KeyRecord; scopes: readonly AgentScope[] }>
  | Command<'RollAgentKey', { key: KeyId; successor: KeyRecord; expiresAt: Timestamp }>
  | Command<'RevokeAgentKey', { key: KeyId }>
  | Command<'StopAgent', { reason: string | null }>
  | Command<'SuspendAgent', { reason: string | null }>
  | Command<'ResumeAgent', { reason: string | null }>;
