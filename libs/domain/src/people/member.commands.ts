import type { CommandMetadata, KeyId, MembershipId, Timestamp, UserId } from '../kernel/index.js';
import type { Role } from './role.js';

type Command<Type extends string, Data> = { type: Type; data: Data; metadata: CommandMetadata };

export type MemberCommand =
  /** `membership` is used where the person has none yet. */
  | Command<
      'InviteMember',
      { membership: MembershipId; user: UserId; role: Role; invitation: string; expiresAt: Timestamp }
    >
  /** By whoever holds the link of this invitation. */
  | Command<'JoinOrganization', { membership: MembershipId; invitation: string }>
  /** `keepKeys`: the admin keys of the person that stay; the others are revoked where the role is below admin from now on. */
  | Command<'ChangeMemberRole', { membership: MembershipId; role: Role; keepKeys?: readonly KeyId[] }>
  | Command<'RemoveMember', { membership: MembershipId; keepKeys?: readonly KeyId[] }>
  | Command<
      'ChangeMemberReferences',
      { membership: MembershipId; references?: readonly string[]; chatAccounts?: readonly string[] }
    >
  | Command<'SetMemberAddress', { membership: MembershipId }>
  | Command<'IssueLoginLink', { user: UserId }>;
