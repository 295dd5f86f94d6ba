import type { Actor, AgentId, OrgId, Timestamp, UserId } from '../kernel/index.js';
import type { KeyRing, StoredKey } from '../people/index.js';
import type { AgentBudgets, AgentScope, IntentMode } from './agent.events.js';

export interface AgentKey extends StoredKey {
  readonly scopes: readonly AgentScope[];
}

/** What the agent's runtime signs its calls with. Only the public half is known here. */
export interface IntentKey {
  /** Lowercase hex of the first 16 bytes of SHA-256 of the 32 public-key bytes. */
  readonly kid: string;
  readonly publicKey: string;
  readonly createdBy: Actor;
  readonly createdAt: Timestamp;
}

export const AGENT_STATUSES = ['active', 'stopped', 'suspended'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

export type Agent =
  | { readonly status: 'none' }
  | {
      /** Stop and suspend refuse alike; only an admin's resume lifts a suspension (rule AGENT-1). */
      readonly status: AgentStatus;
      /** Why it was stopped or suspended, where somebody said; null while it is active. */
      readonly statusReason: string | null;
      readonly org: OrgId;
      readonly agent: AgentId;
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly owner: UserId | null;
      readonly intentMode: IntentMode;
      /** In the order they were added; two at most. */
      readonly intentKeys: readonly IntentKey[];
      readonly budgets: AgentBudgets;
      readonly createdAt: Timestamp;
      readonly keys: KeyRing<AgentKey>;
    };

export type LivingAgent = Exclude<Agent, { status: 'none' }>;
