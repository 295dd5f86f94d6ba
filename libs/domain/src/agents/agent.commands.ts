import type { AgentId, CommandMetadata, KeyId, OrgId, Timestamp, UserId } from '../kernel/index.js';
import type { KeyRecord } from '../people/index.js';
import type { AgentBudgets, AgentScope, IntentMode } from './agent.events.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

/** What may be changed of an agent: what is absent stays. Labels are replaced whole, each budget by itself. */
export interface AgentSettings {
  readonly intentMode?: IntentMode;
  readonly labels?: Readonly<Record<string, string>>;
  readonly budgets?: Partial<AgentBudgets>;
}

export interface NewAgentKey {
  readonly record: KeyRecord;
  readonly scopes: readonly AgentScope[];
}

export type AgentCommand =
  | Command<
      'RegisterAgent',
      {
        org: OrgId;
        agent: AgentId;
        name: string;
        labels: Readonly<Record<string, string>>;
        owner: UserId | null;
        settings?: Omit<AgentSettings, 'labels'>;
        /** Its first key, made in the same append. */
        key?: NewAgentKey;
      }
    >
  | Command<'ChangeAgent', AgentSettings>
  | Command<'AddIntentKey', { kid: string; publicKey: string }>
  | Command<'RemoveIntentKey', { kid: string }>
  | Command<'CreateAgentKey', NewAgentKey>
  | Command<'RollAgentKey', { key: KeyId; successor: KeyRecord; expiresAt: Timestamp }>
  | Command<'RevokeAgentKey', { key: KeyId }>
  | Command<'StopAgent', { reason: string | null }>
  | Command<'SuspendAgent', { reason: string | null }>
  | Command<'ResumeAgent', { reason: string | null }>;
