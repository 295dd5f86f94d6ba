import type { AgentId, KeyId, OrgId, Timestamp, UserId } from '../kernel/index.js';
import type { KeyRecord } from '../people/index.js';

/** Document 2, API keys. `admin` belongs to org admin keys alone. */
export const AGENT_SCOPES = ['actions:execute', 'actions:read', 'deeds:read', 'actions:undo'] as const;
export type AgentScope = (typeof AGENT_SCOPES)[number];

export type IntentMode = 'off' | 'optional' | 'required';

/** Stream `agent-<agt_id>`. */
export type AgentEvent =
  | {
      type: 'AgentRegistered';
      data: {
        org: OrgId;
        agent: AgentId;
        name: string;
        labels: Readonly<Record<string, string>>;
        owner: UserId | null;
        at: Timestamp;
      };
    }
  | {
      type: 'AgentKeyCreated';
      data: { org: OrgId; agent: AgentId; record: KeyRecord; scopes: readonly AgentScope[]; at: Timestamp };
    }
  | {
      type: 'AgentKeyRolled';
      /** The successor has the same scopes and works at once; `key` works until `expires_at`. */
      data: {
        org: OrgId;
        agent: AgentId;
        key: KeyId;
        successor: KeyRecord;
        expires_at: Timestamp;
        at: Timestamp;
      };
    }
  | { type: 'AgentKeyRevoked'; data: { org: OrgId; agent: AgentId; key: KeyId; at: Timestamp } }
  | { type: 'AgentStopped'; data: { org: OrgId; agent: AgentId; reason: string | null; at: Timestamp } }
  | { type: 'AgentSuspended'; data: { org: OrgId; agent: AgentId; reason: string | null; at: Timestamp } }
  | { type: 'AgentResumed'; data: { org: OrgId; agent: AgentId; reason: string | null; at: Timestamp } };
