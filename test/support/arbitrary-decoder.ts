import fc from 'fast-check';
import type { Timestamp } from '#libs/domain/kernel';
import { DECODER_ALERTS, DECODER_REASONS, type DecoderEvent } from '#libs/domain/witness';
import { anyOf, type ArbitraryStream, type EventArbitraries } from './arbitrary-events.js';
import { testId } from './given-log.js';

export const decoderStream = (
  number: number,
  text: fc.Arbitrary<string>,
  instant: fc.Arbitrary<Timestamp>,
): fc.Arbitrary<ArbitraryStream> => {
  const about = {
    org: fc.constant(testId('org', 1)),
    connector: fc.constant(testId('con', number)),
    name: fc.constant(`c${number}`),
    at: instant,
  };
  const events: EventArbitraries<DecoderEvent> = {
    DecoderAttached: fc.record({ ...about, system_id: text, timeline: fc.nat(), slot: text, start: text }),
    DecoderDetached: fc.record({ ...about, slot: text }),
    DecoderDegraded: fc.record(
      { ...about, reason: fc.constantFrom(...DECODER_REASONS), lag_bytes: fc.nat() },
      { requiredKeys: ['org', 'connector', 'name', 'at', 'reason'] },
    ),
    DecoderRecovered: fc.record(about),
    DecoderAlerted: fc.record(
      { ...about, kind: fc.constantFrom(...DECODER_ALERTS), table: text, rows: fc.nat(), xid: fc.nat(), role: text },
      { requiredKeys: ['org', 'connector', 'name', 'at', 'kind', 'xid'] },
    ),
  };
  return fc
    .array(anyOf(events), { minLength: 1, maxLength: 4 })
    .map((all) => ({ stream: `decoder-${testId('con', number)}`, events: all }));
};
