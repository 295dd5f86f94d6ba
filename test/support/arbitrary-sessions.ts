import { type Timestamp, timestampOf } from '#libs/domain/kernel';
import type { SessionEvent, SignInFailureEvent } from '#libs/domain/people';
import fc from 'fast-check';
import { anyOf, type ArbitraryStream, type EventArbitraries } from './arbitrary-events.js';
import { testId } from './given-log.js';

const instant: fc.Arbitrary<Timestamp> = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(timestampOf);
const org = fc.constantFrom(testId('org', 1), testId('org', 2));

/** A session that starts and ends, in any order. */
export const sessionStream = (number: number): fc.Arbitrary<ArbitraryStream> => {
  const about = { org, session: fc.constant(testId('ses', number)), user: fc.constant(testId('usr', 1)), at: instant };
  const events: EventArbitraries<SessionEvent> = {
    SessionStarted: fc.record({
      ...about,
      membership: fc.constant(testId('mem', 1)),
      via: fc.constantFrom('link', 'code', 'invite', 'org_switch', 'passkey'),
    }),
    SessionEnded: fc.record({
      ...about,
      why: fc.constantFrom('signed_out', 'everywhere', 'ended', 'switched', 'address_set'),
    }),
  };
  const some = fc.array(anyOf(events), { minLength: 1, maxLength: 3 });
  return some.map((all) => ({ stream: `session-${testId('ses', number)}`, events: all }));
};

/** Wrong tries of a code. */
export const signInStream = (number: number): fc.Arbitrary<ArbitraryStream> => {
  const events: EventArbitraries<SignInFailureEvent> = {
    SignInFailed: fc.record({
      org,
      user: fc.constant(testId('usr', 1)),
      why: fc.constantFrom('wrong_code', 'code_used_up'),
      at: instant,
    }),
  };
  const some = fc.array(anyOf(events), { minLength: 1, maxLength: 2 });
  return some.map((all) => ({ stream: `sign_in-${number}`, events: all }));
};
