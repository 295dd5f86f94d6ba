import type { KeyId, MembershipId, OrgId, PolicyId, PolicyVersionId, Timestamp, UserId } from '../kernel/index.js';

/** What stands in the log of a key: never its secret (document 2, API key). */
export interface KeyRecord {
  readonly key: KeyId;
  readonly prefix: string;
  /** Keyed hash of the secret under the deployment's pepper, lowercase hex. */
  readonly hash: string;
  readonly livemode: boolean;
}

export type PolicyMode = 'enforce' | 'shadow';

/** Stream `org-<org_id>`. */
export type OrganizationEvent =
  | {
      type: 'OrganizationCreated';
      data: { org: OrgId; name: string; timezone: string; owner: UserId; membership: MembershipId; at: Timestamp };
    }
  | { type: 'OrganizationStopped'; data: { org: OrgId; reason: string | null; at: Timestamp } }
  | { type: 'OrganizationStarted'; data: { org: OrgId; reason: string | null; at: Timestamp } }
  | { type: 'AdminKeyCreated'; data: { org: OrgId; record: KeyRecord; at: Timestamp } }
  | {
      type: 'AdminKeyRolled';
      /** `key` works until `expires_at`; `successor` works at once. */
      data: { org: OrgId; key: KeyId; successor: KeyRecord; expires_at: Timestamp; at: Timestamp };
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
