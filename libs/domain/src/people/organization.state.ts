import type { OrgId, PolicyId, PolicyVersionId, Timestamp, UserId } from '../kernel/index.js';
import type { KeyRing } from './key-ring.js';

/** A version in a slot: what decides (enforce) or is only recorded (shadow). */
export interface ActivePolicy {
  readonly policy: PolicyId;
  readonly versionId: PolicyVersionId;
  readonly version: number;
  readonly versionHash: string;
}

export type Organization =
  | { readonly status: 'none' }
  | {
      readonly status: 'started' | 'stopped';
      readonly org: OrgId;
      readonly name: string;
      readonly timezone: string;
      readonly owner: UserId;
      readonly createdAt: Timestamp;
      readonly adminKeys: KeyRing;
      readonly enforced: ActivePolicy | null;
      readonly shadow: ActivePolicy | null;
    };

export type LivingOrganization = Exclude<Organization, { status: 'none' }>;
