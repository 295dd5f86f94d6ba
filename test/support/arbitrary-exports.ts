import { type Timestamp, timestampOf } from '#libs/domain/kernel';
import type { EvidenceExportEvent, ExportEvent } from '#libs/domain/ledger';
import fc from 'fast-check';
import { anyOf, type ArbitraryStream, type EventArbitraries } from './arbitrary-events.js';
import { testId } from './given-log.js';

const instant: fc.Arbitrary<Timestamp> = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(timestampOf);
const org = fc.constantFrom(testId('org', 1), testId('org', 2));

/** An export, of any range. */
export const exportStream = (number: number): fc.Arbitrary<ArbitraryStream> => {
  return anyOf(EXPORTS).map((event) => ({ stream: `export-${number}`, events: [event] }));
};

/** An export of evidence, of any range. */
export const evidenceExportStream = (number: number): fc.Arbitrary<ArbitraryStream> =>
  anyOf(EVIDENCE_EXPORTS).map((event) => ({ stream: `evidence-${number}`, events: [event] }));

const seq = fc.option(fc.integer({ min: 1 }));
const range = { org, from: fc.option(instant), to: fc.option(instant), first_seq: seq, last_seq: seq, at: instant };

const EXPORTS: EventArbitraries<ExportEvent> = {
  ExportStarted: fc.record({ ...range, kind: fc.constant('deeds' as const) }),
};
const EVIDENCE_EXPORTS: EventArbitraries<EvidenceExportEvent> = {
  EvidenceExported: fc.record({ ...range, format: fc.constantFrom('service.bundle/1' as const, 'service.bundle/2') }),
};
