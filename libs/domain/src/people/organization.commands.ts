import type {
  CommandMetadata,
  KeyId,
  MembershipId,
  OrgId,
  PolicyId,
  PolicyVersionId,
  Timestamp,
  UserId,
} from '../kernel/index.js';
import type { MemberCommand } from './member.commands.js';
import type { ApprovalSettings, KeyRecord, PolicyMode } from './organization.events.js';
import type { PasskeyCommand } from './passkey.decider.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

/** What is absent stays as it is. */
export interface OrganizationChanges {
  readonly name?: string;
  readonly timezone?: string;
  readonly pinnedVersion?: string;
  readonly retentionDays?: number | null;
  readonly approvals?: Partial<Omit<ApprovalSettings, 'signed'>> & { readonly signed?: boolean };
}

export type OrganizationCommand =
  | MemberCommand
  | PasskeyCommand
  | Command<
      'CreateOrganization',
      {
        org: OrgId;
        name: string;
        timezone: string;
        owner: UserId;
        membership: MembershipId;
        pinned_version?: string;
      }
    >
  | Command<'UpdateOrganization', OrganizationChanges>
  | Command<'StopOrganization', { reason: string | null }>
  | Command<'StartOrganization', { reason: string | null }>
  | Command<'CreateAdminKey', { record: KeyRecord; expiresAt?: Timestamp | null }>
  | Command<'RollAdminKey', { key: KeyId; successor: KeyRecord; expiresAt: Timestamp }>
  | Command<'RevokeAdminKey', { key: KeyId }>
  | Command<
      'ActivatePolicy',
      {
        mode: PolicyMode;
        policy: PolicyId;
        versionId: PolicyVersionId;
        version: number;
        versionHash: string;
        reason: string | null;
      }
    >
  | Command<'DeactivatePolicy', { mode: PolicyMode; policy: PolicyId; reason: string | null }>;
