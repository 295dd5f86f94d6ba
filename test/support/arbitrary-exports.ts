import { type Timestamp, timestampOf } from '#libs/domain/kernel';
import type { ExportEvent } from '#libs/domain/ledger';
import fc from 'fast-check';
import { anyOf, type ArbitraryStream, type EventArbitraries } from './arbitrary-events.js';
import { testId } from './given-log.js';

const instant: fc.Arbitrary<Timestamp> = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(timestampOf);
const org = fc.constantFrom(testId('org', 1), testId('org', 2));

/** An export, of any range. */
export const exportStream = (number: number): fc.Arbitrary<ArbitraryStream> => {
  const seq = fc.option(fc.integer({ min: 1 }));
  const events: EventArbitraries<ExportEvent> = {
    ExportStarted: fc.record({
      org,
      kind: fc.constant('deeds' as const),
      from: fc.option(instant),
      to: fc.option(instant),
      first_seq: seq,
      last_seq: seq,
      at: instant,
    }),
  };
  return anyOf(events).map((event) => ({ stream: `export-${number}`, events: [event] }));
};
