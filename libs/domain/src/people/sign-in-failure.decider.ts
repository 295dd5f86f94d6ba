import type { CommandMetadata, Decider, OrgId, Timestamp, UserId } from '../kernel/index.js';

/** `wrong_code`: the first wrong one for a mail. `code_used_up`: so many were wrong that none is accepted for it any more. */
export type SignInFault = 'wrong_code' | 'code_used_up';

interface OfFailure {
  readonly org: OrgId;
  /** Who was to be signed in. Who tried is not known. */
  readonly user: UserId;
}

/**
 * Stream `sign_in-<mailed code and organization, hashed>`: two events at most, so that nobody fills the log by guessing. No
 * address, no code and no place of a client is in them.
 */
export type SignInFailureEvent = { type: 'SignInFailed'; data: OfFailure & { why: SignInFault; at: Timestamp } };

type RecordFailure = {
  readonly type: 'RecordFailure';
  readonly data: OfFailure & { readonly isUsedUp: boolean };
  readonly metadata: CommandMetadata;
};

interface SignInFailure {
  readonly recorded: readonly SignInFault[];
}

export const signInFailureDecider: Decider<SignInFailure, RecordFailure, SignInFailureEvent> = {
  category: 'sign_in',
  eventTypes: { SignInFailed: true },
  initialState: () => ({ recorded: [] }),
  // Also where all tries were wrong before anybody looked, the first one is told.
  decide: ({ data: { org, user, isUsedUp }, metadata }, { recorded }) =>
    (isUsedUp ? (['wrong_code', 'code_used_up'] as const) : (['wrong_code'] as const))
      .filter((why) => !recorded.includes(why))
      .map((why) => ({ type: 'SignInFailed', data: { org, user, why, at: metadata.now } })),
  evolve: (state, event) => {
    switch (event.type) {
      case 'SignInFailed':
        return { recorded: [...state.recorded, event.data.why] };
    }
  },
  isOver: ({ recorded }) => recorded.includes('code_used_up'),
};
