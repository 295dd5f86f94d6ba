import type { LedgerEvent } from '#libs/domain/ledger';
import { DeedRow } from '#libs/infra/read-models';
import type { EventTypes, Projection } from '../projection.js';

const LEDGER_EVENTS: EventTypes<LedgerEvent> = { DeedSealed: true };

/** Envelopes of GET /v1/deeds. Nothing ever changes one. */
export const deedsProjection: Projection = {
  name: 'deeds',
  version: 1,
  follows: { ledger: LEDGER_EVENTS },
  rowTypes: [DeedRow],

  async project(events, rows) {
    await rows.upsert(
      DeedRow,
      events.map(({ event }) => deedRow((event as LedgerEvent).data)),
    );
  },
};

const deedRow = (data: LedgerEvent['data']): DeedRow => ({
  id: data.deed,
  org: data.org,
  seq: data.seq,
  kind: data.kind,
  action: data.action,
  issuedAt: data.issued_at,
  bodyHash: data.body_hash,
  prevHash: data.prev_hash,
  kid: data.kid,
  signature: data.signature,
});
