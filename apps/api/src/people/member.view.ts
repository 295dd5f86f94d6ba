import type { JsonObject } from '#libs/crypto';
import { timestampOf } from '#libs/domain/kernel';
import type { LivingOrganization, Membership, SessionRow } from '#libs/domain/people';

/** @param email null where the organization has none to show (`Members.addressesOf`) */
export const membershipView = (
  organization: LivingOrganization,
  member: Membership,
  email: string | null,
): JsonObject => ({
  object: 'membership',
  id: member.membership,
  org: organization.org,
  user: member.user,
  email,
  role: member.role,
  status: member.status,
  references: [...member.references],
  chat_accounts: [...member.chatAccounts],
  invited_by: member.invitedBy === null ? null : { ...member.invitedBy },
  invitation_expires_at: member.invitationExpiresAt,
  joined_at: member.joinedAt,
});

/** @param inFlight actions that were sent and have not ended; null where it is not asked for */
export const organizationView = (organization: LivingOrganization, inFlight: number): JsonObject => ({
  object: 'organization',
  id: organization.org,
  name: organization.name,
  timezone: organization.timezone,
  status: organization.status === 'stopped' ? 'stopped' : 'active',
  stopped_at: organization.stop?.at ?? null,
  stopped_by: organization.stop?.by ? { ...organization.stop.by } : null,
  in_flight: inFlight,
  pinned_version: organization.pinnedVersion,
  retention_days: organization.retentionDays,
  approvals: { ...organization.approvals, signed: organization.approvals.signed === true },
  created_at: organization.createdAt,
});

/** A session, as its person sees it. Its secrets are shown nowhere. */
export const sessionView = (row: SessionRow, current: string): JsonObject => ({
  object: 'session',
  id: row.session,
  org: row.org,
  via: row.via,
  created_at: timestampOf(row.createdAtMs),
  last_seen_at: timestampOf(row.lastSeenAtMs),
  expires_at: timestampOf(row.expiresAtMs),
  idle_expires_at: timestampOf(row.idleExpiresAtMs),
  network: row.network,
  user_agent: row.userAgent,
  current: row.session === current,
});
