import type { AgentId, OrgId, Timestamp, UserId } from '../kernel/index.js';
import type { KeyRing, StoredKey } from '../people/index.js';
import type { AgentScope, IntentMode } from './agent.events.js';

export interface AgentKey extends StoredKey {
  readonly scopes: readonly AgentScope[];
}

export type Agent =
  | { readonly status: 'none' }
  | {
      /** Stop and suspend refuse alike; only an admin's resume lifts a suspension (architecture, choices). */
      readonly status: 'active' | 'stopped' | 'suspended';
      readonly org: OrgId;
      readonly agent: AgentId;
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly owner: UserId | null;
      readonly intentMode: IntentMode;
      readonly createdAt: Timestamp;
      readonly keys: KeyRing<AgentKey>;
    };

export type LivingAgent = Exclude<Agent, { status: 'none' }>;
