import type { Actor, MembershipId, Timestamp, UserId } from '../kernel/index.js';
import { isAtLeast, type Role } from './role.js';

export const MEMBERSHIP_STATUSES = ['invited', 'active', 'removed'] as const;
export type MembershipStatus = (typeof MEMBERSHIP_STATUSES)[number];

/** A person in one organization. Read live, on every request (rule PEOPLE-2). */
export interface Membership {
  readonly membership: MembershipId;
  readonly user: UserId;
  readonly role: Role;
  readonly status: MembershipStatus;
  /** Null for the first owner, whom nobody invited. */
  readonly invitedBy: Actor | null;
  /** Which invitation may still be taken up; null once it was, or when there never was one. */
  readonly invitation: string | null;
  readonly invitationExpiresAt: Timestamp | null;
  readonly joinedAt: Timestamp | null;
  /** Values of `Service-On-Behalf-Of` that mean this person. Who is removed and invited again has them still. */
  readonly references: readonly string[];
  /** `<connector>:<account>`. */
  readonly chatAccounts: readonly string[];
}

export type Memberships = ReadonlyMap<MembershipId, Membership>;

/** The membership of a person that is not over; null for a stranger and for who was removed. */
export const membershipOf = (members: Memberships, user: UserId | string): Membership | null =>
  [...members.values()].find((member) => member.user === user && member.status !== 'removed') ?? null;

export const activeMembershipOf = (members: Memberships, user: UserId | string): Membership | null => {
  const found = membershipOf(members, user);
  return found?.status === 'active' ? found : null;
};

export const hasActiveOwner = (members: Memberships): boolean =>
  [...members.values()].some(({ role, status }) => status === 'active' && role === 'owner');

export const withMembership = (members: Memberships, changed: Membership): Memberships =>
  new Map(members).set(changed.membership, changed);

/** Admins manage viewers and admins, owners everybody (rule PEOPLE-1). */
export const mayManage = (manager: Role, managed: Role): boolean =>
  isAtLeast(manager, managed === 'owner' ? 'owner' : 'admin');
