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
import type { KeyRecord, PolicyMode } from './organization.events.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

export type OrganizationCommand =
  | Command<
      'CreateOrganization',
      { org: OrgId; name: string; timezone: string; owner: UserId; membership: MembershipId }
    >
  | Command<'StopOrganization', { reason: string | null }>
  | Command<'StartOrganization', { reason: string | null }>
  | Command<'CreateAdminKey', { record: KeyRecord }>
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
