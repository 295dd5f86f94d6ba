import { type Timestamp, timestampOf } from '#libs/domain/kernel';
import { PASSKEY_ALGS, type PasskeyEvent } from '#libs/domain/people';
import fc from 'fast-check';
import type { EventArbitraries } from './arbitrary-events.js';
import { testId } from './given-log.js';

const instant: fc.Arbitrary<Timestamp> = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(timestampOf);
const anyId = fc.integer({ min: 1, max: 5 });

/** Of an organization, with any text as credential, key and host name. */
export const passkeyEvents = (number: number, text: fc.Arbitrary<string>): EventArbitraries<PasskeyEvent> => {
  const of = {
    org: fc.constant(testId('org', number)),
    passkey: anyId.map((named) => testId('pky', named)),
    membership: anyId.map((named) => testId('mem', named)),
    user: anyId.map((named) => testId('usr', named)),
    credential: text,
    at: instant,
  };
  return {
    PasskeyRegistered: fc.record({ ...of, alg: fc.constantFrom(...PASSKEY_ALGS), public_key: text, rp_id: text }),
    PasskeyRemoved: fc.record(of),
  };
};
