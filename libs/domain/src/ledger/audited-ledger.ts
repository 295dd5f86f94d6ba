import type { Digest } from '#libs/crypto';
import type { EventEnvelope, RecordedEvent, Timestamp } from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';
import type { SealRequest } from './seal-source.js';

/** A deed that an event may ask for. Null sections: it turned out that the event asks for none of this organization. */
export interface Awaited {
  readonly envelope: EventEnvelope;
  sections(): Pick<SealRequest, 'sections' | 'firstSections'> | null;
}

/** The last deed of a ledger under one key, and the place of its event. */
type LastDeedOfKey = Pick<LedgerEvent['data'], 'seq' | 'body_hash' | 'issued_at'> &
  Pick<RecordedEvent, 'stream' | 'revision'>;

/** The state of one organization's ledger at the current place of the replay. */
export class AuditedLedger {
  readonly awaited: Awaited[] = [];
  readonly lastDeedByKey = new Map<string, LastDeedOfKey>();
  previous: { seq: number; bodyHash: Digest | null; issuedAt: Timestamp | null } = {
    seq: 0,
    bodyHash: null,
    issuedAt: null,
  };
}
