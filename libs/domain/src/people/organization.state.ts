import type { Actor, OrgId, PolicyId, PolicyVersionId, Timestamp, UserId } from '../kernel/index.js';
import type { AdminKey, KeyRing } from './key-ring.js';
import type { Memberships } from './membership.js';
import type { ApprovalSettings } from './organization.events.js';
import type { PasskeyRing } from './passkey.state.js';

/** A version in a slot: what decides (enforce) or is only recorded (shadow). */
export interface ActivePolicy {
  readonly policy: PolicyId;
  readonly versionId: PolicyVersionId;
  readonly version: number;
  readonly versionHash: string;
}

/** Since when it is in its slot, and who put it there; null where the event was recorded before it told. */
export interface HeldSlot extends ActivePolicy {
  readonly since: Timestamp;
  readonly by: Actor | null;
}

export type Organization =
  | { readonly status: 'none' }
  | {
      readonly status: 'started' | 'stopped';
      readonly org: OrgId;
      readonly name: string;
      readonly timezone: string;
      /** Who it was made for. Who owns it now is for {@link members} to say. */
      readonly owner: UserId;
      readonly createdAt: Timestamp;
      readonly members: Memberships;
      /** The version of the interface that applies where a request names none; null: the latest. */
      readonly pinnedVersion: string | null;
      /** Null: the default. */
      readonly retentionDays: number | null;
      readonly approvals: ApprovalSettings;
      /** Since when all its agents are stopped, and by whom; null while they are not. */
      readonly stop: { readonly at: Timestamp; readonly by: Actor | null } | null;
      readonly adminKeys: KeyRing<AdminKey>;
      readonly passkeys: PasskeyRing;
      readonly enforced: HeldSlot | null;
      readonly shadow: HeldSlot | null;
    };

export type LivingOrganization = Exclude<Organization, { status: 'none' }>;
