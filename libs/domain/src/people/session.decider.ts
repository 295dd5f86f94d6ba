import {
  DomainError,
  type CommandMetadata,
  type Decider,
  type MembershipId,
  type OrgId,
  type SessionId,
  type Timestamp,
  type UserId,
} from '../kernel/index.js';

/** How a person came in: by the link or the code of an e-mail, by an invitation, by a passkey, or from another organization. */
export const SIGN_IN_MEANS = ['link', 'code', 'invite', 'org_switch', 'passkey'] as const;
export type SignedInBy = (typeof SIGN_IN_MEANS)[number];

/** Why a session ended, as its stream says; that it grew old is for its row to say. */
export type SessionEnd = 'signed_out' | 'everywhere' | 'ended' | 'switched' | 'address_set';

interface OfSession {
  readonly org: OrgId;
  readonly session: SessionId;
  readonly user: UserId;
}

/**
 * Stream `session-<ses_id>`. A row finds a session by its cookie and holds its times; without SessionStarted it opens
 * nothing, and after SessionEnded it never opens anything again, whatever a restored backup says.
 */
export type SessionEvent =
  | { type: 'SessionStarted'; data: OfSession & { membership: MembershipId; via: SignedInBy; at: Timestamp } }
  | { type: 'SessionEnded'; data: OfSession & { why: SessionEnd; at: Timestamp } };

export type SessionCommand =
  | { type: 'StartSession'; data: OfSession & { membership: MembershipId; via: SignedInBy }; metadata: CommandMetadata }
  /** Also of one that has not started yet: whoever signs out everywhere also ends the sign-in under way. */
  | { type: 'EndSession'; data: OfSession & { why: SessionEnd }; metadata: CommandMetadata };

export type Session =
  | { readonly status: 'none' }
  | { readonly status: 'ended'; readonly why: SessionEnd }
  | {
      readonly status: 'started';
      readonly org: OrgId;
      readonly session: SessionId;
      readonly user: UserId;
      readonly membership: MembershipId;
    };

export const sessionDecider: Decider<Session, SessionCommand, SessionEvent> = {
  category: 'session',
  eventTypes: { SessionStarted: true, SessionEnded: true },
  initialState: () => ({ status: 'none' }),
  decide: ({ type, data, metadata }, state) => {
    const at = metadata.now;
    switch (type) {
      case 'StartSession':
        if (state.status !== 'none') throw new DomainError('session_expired');
        return [{ type: 'SessionStarted', data: { ...data, at } }];
      case 'EndSession':
        // Of a session comes one other at most, and none once it was ended.
        if (data.why === 'switched' && state.status !== 'started') throw new DomainError('session_expired');
        return state.status === 'ended' ? [] : [{ type: 'SessionEnded', data: { ...data, at } }];
    }
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'SessionStarted': {
        const { org, session, user, membership } = event.data;
        return state.status === 'none' ? { status: 'started', org, session, user, membership } : state;
      }
      case 'SessionEnded':
        return { status: 'ended', why: event.data.why };
    }
  },
  isOver: ({ status }) => status === 'ended',
};
