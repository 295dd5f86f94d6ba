import type { Actor, AgentId, KeyId, OrgId, Timestamp, UserId } from '../kernel/index.js';
import type { KeyRecord } from '../people/index.js';

/** What an agent's key may be allowed. `admin` belongs to org admin keys alone. */
export const AGENT_SCOPES = ['actions:execute', 'actions:read', 'deeds:read', 'actions:undo'] as const;
export type AgentScope = (typeof AGENT_SCOPES)[number];

/** What becomes of a call without a signed intent, and of an intent that is not good (rule INTENT-1). */
export const INTENT_MODES = ['off', 'optional', 'required'] as const;
export type IntentMode = (typeof INTENT_MODES)[number];

/** In the smallest unit of its currency, whose ISO 4217 code stands in lower case as it does in deeds and policies. */
export interface Money {
  readonly amount: number;
  readonly currency: string;
}

/** What an agent may use up in a day of its organization's time zone; null is without a bound. */
export interface AgentBudgets {
  readonly calls_per_day: number | null;
  readonly spend_per_day: Money | null;
}

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
  | {
      type: 'AgentIntentKeyAdded';
      /** `public_key` was judged before it came here: `ed25519:` and 43 characters of base64url. */
      data: { org: OrgId; agent: AgentId; kid: string; public_key: string; by: Actor; at: Timestamp };
    }
  | { type: 'AgentIntentKeyRemoved'; data: { org: OrgId; agent: AgentId; kid: string; at: Timestamp } }
  | {
      type: 'AgentIntentModeSet';
      data: { org: OrgId; agent: AgentId; from: IntentMode; to: IntentMode; at: Timestamp };
    }
  /** All labels, not those that changed. */
  | {
      type: 'AgentLabelsSet';
      data: { org: OrgId; agent: AgentId; labels: Readonly<Record<string, string>>; at: Timestamp };
    }
  /** Both budgets as they are from then on, the one that did not change included. */
  | { type: 'AgentBudgetsSet'; data: AgentBudgets & { org: OrgId; agent: AgentId; at: Timestamp } }
  | { type: 'AgentStopped'; data: { org: OrgId; agent: AgentId; reason: string | null; at: Timestamp } }
  | { type: 'AgentSuspended'; data: { org: OrgId; agent: AgentId; reason: string | null; at: Timestamp } }
  | { type: 'AgentResumed'; data: { org: OrgId; agent: AgentId; reason: string | null; at: Timestamp } };
