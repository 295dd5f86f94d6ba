import type {
  Actor,
  KeyId,
  MembershipId,
  OrgId,
  PolicyId,
  PolicyMode,
  PolicyVersionId,
  Timestamp,
  UserId,
} from '../kernel/index.js';
import type { MemberEvent } from './member.events.js';
import type { PasskeyEvent } from './passkey.events.js';

/** What stands in the log of a key: never its secret (rule KEY-1). */
export interface KeyRecord {
  readonly key: KeyId;
  readonly prefix: string;
  /** Keyed hash of the secret under the deployment's pepper, lowercase hex. */
  readonly hash: string;
  readonly livemode: boolean;
}

export type { PolicyMode };

/** What a person may do with an approval from outside the Console: `review_only` shows it and decides nothing. */
export const APPROVAL_DOORS = ['decide', 'review_only', 'off'] as const;
export type ApprovalDoor = (typeof APPROVAL_DOORS)[number];

/** How approvals of the organization are asked for. */
export interface ApprovalSettings {
  readonly mail: ApprovalDoor;
  readonly chat: ApprovalDoor;
  /** How long an approval waits for a decision. */
  readonly expires_in_s: number;
  /** Whoever approves signs with a passkey, whatever the rule says. Absent where the rule says whether. */
  readonly signed?: true;
}

/** What an admin or an owner may set. */
export const ORGANIZATION_FIELDS = ['name', 'timezone', 'pinned_version', 'retention_days', 'approvals'] as const;
export type OrganizationField = (typeof ORGANIZATION_FIELDS)[number];

/** Stream `org-<org_id>`. */
export type OrganizationEvent =
  | MemberEvent
  | PasskeyEvent
  | {
      type: 'OrganizationCreated';
      data: {
        org: OrgId;
        name: string;
        timezone: string;
        owner: UserId;
        membership: MembershipId;
        /** Absent from organizations made before versions were pinned: the latest one applies. */
        pinned_version?: string;
        at: Timestamp;
      };
    }
  | {
      type: 'OrganizationUpdated';
      /** `fields` names what changed. `timezone` is always said, as it is now. */
      data: {
        org: OrgId;
        fields: readonly OrganizationField[];
        timezone: string;
        name?: string;
        pinned_version?: string;
        /** Null: the default of the deployment. */
        retention_days?: number | null;
        approvals?: ApprovalSettings;
        at: Timestamp;
      };
    }
  /** `by` is absent from events that were recorded before people could sign in. */
  | { type: 'OrganizationStopped'; data: { org: OrgId; reason: string | null; by?: Actor; at: Timestamp } }
  | { type: 'OrganizationStarted'; data: { org: OrgId; reason: string | null; at: Timestamp } }
  | {
      type: 'AdminKeyCreated';
      /**
       * `by` is absent from events that were recorded before keys told who made them. `expires_at` is absent from a key
       * without an end.
       */
      data: { org: OrgId; record: KeyRecord; by?: Actor; expires_at?: Timestamp; at: Timestamp };
    }
  | {
      type: 'AdminKeyRolled';
      /**
       * `key` works until `expires_at`; `successor` works at once, and ends at `successor_expires_at` where `key` had an end.
       * `by`: who was shown the successor's secret.
       */
      data: {
        org: OrgId;
        key: KeyId;
        successor: KeyRecord;
        expires_at: Timestamp;
        successor_expires_at?: Timestamp;
        by?: Actor;
        at: Timestamp;
      };
    }
  | { type: 'AdminKeyRevoked'; data: { org: OrgId; key: KeyId; at: Timestamp } }
  | {
      type: 'PolicyActivated';
      data: {
        org: OrgId;
        mode: PolicyMode;
        policy: PolicyId;
        version_id: PolicyVersionId;
        version: number;
        version_hash: string;
        reason: string | null;
        /** The version that held the slot before, if any. */
        replaced: PolicyVersionId | null;
        /** Absent from events that were recorded before slots told who filled them. */
        by?: Actor;
        at: Timestamp;
      };
    }
  | {
      type: 'PolicyDeactivated';
      data: {
        org: OrgId;
        mode: PolicyMode;
        policy: PolicyId;
        version_id: PolicyVersionId;
        reason: string | null;
        at: Timestamp;
      };
    };
