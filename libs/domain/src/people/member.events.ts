import type { Actor, KeyId, MembershipId, OrgId, Timestamp, UserId } from '../kernel/index.js';
import type { Role } from './role.js';

interface OfMembership {
  readonly org: OrgId;
  readonly membership: MembershipId;
}

/** What the stream `org-<org_id>` says of its people. Ids only: an e-mail address is in no event. */
export type MemberEvent =
  | {
      type: 'MemberInvited';
      /**
       * Said again of a membership that is still invited: the new `invitation` makes every older link void. `invitation` is
       * random and public, and proves nothing: a link holds another secret, whose row names this one.
       */
      data: OfMembership & {
        user: UserId;
        role: Role;
        invitation: string;
        by: Actor;
        expires_at: Timestamp;
        at: Timestamp;
      };
    }
  | { type: 'MemberJoined'; data: OfMembership & { user: UserId; role: Role; at: Timestamp } }
  | {
      type: 'MemberRoleChanged';
      /** `kept_keys`: working admin keys of the person that somebody wanted kept; the others are revoked in the same append. */
      data: OfMembership & { from: Role; to: Role; kept_keys?: readonly KeyId[]; at: Timestamp };
    }
  | {
      type: 'MemberRemoved';
      /** `self`: the person left. The membership is over for good: whoever comes back gets a new one, with the references of this one. */
      data: OfMembership & { role: Role; self: boolean; kept_keys?: readonly KeyId[]; at: Timestamp };
    }
  | {
      type: 'MemberReferencesChanged';
      data: OfMembership & { references: readonly string[]; chat_accounts: readonly string[]; at: Timestamp };
    }
  | { type: 'MemberAddressSet'; data: OfMembership & { user: UserId; at: Timestamp } }
  | {
      type: 'LoginLinkIssued';
      data: { org: OrgId; user: UserId; purpose: 'sign_in'; via: 'operator'; at: Timestamp };
    };

export type MemberEventType = MemberEvent['type'];

export const MEMBER_EVENT_TYPES = {
  MemberInvited: true,
  MemberJoined: true,
  MemberRoleChanged: true,
  MemberRemoved: true,
  MemberReferencesChanged: true,
  MemberAddressSet: true,
  LoginLinkIssued: true,
} as const satisfies Record<MemberEventType, true>;
