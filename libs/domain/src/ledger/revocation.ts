import {
  decodeEvent,
  streamOf,
  type EventEnvelope,
  type EventStore,
  type OrgId,
  type Timestamp,
} from '../kernel/index.js';
import type { AdminAct } from './admin-deed.js';
import type { LedgerEvent } from './deed.events.js';
import type { SealKeyEvent } from './seal-key.events.js';
import { ownFaultOf } from './ledger-fault.js';
import { organizationsUpTo } from './ledger-tails.js';
import { askedByAct, placeOf } from './seal-source.js';
import type { SealWork } from './sealer.js';

const PAGE = 1_000;

type Revoked = Extract<SealKeyEvent, { type: 'SealKeyRevoked' }>;

/**
 * The work that a revocation causes: one deed in every organization whose ledger has a deed under that key, naming the
 * last seq and body hash under it (rule DEED-10). The organizations are found by reading the log and the ledgers, which
 * is slow but rare, and depends on no other rows. If a ledger cannot be read, only its own organization is affected.
 * @param activatedAt when the key was activated; no deed under it is older
 */
export const revocationWork = async (
  store: EventStore,
  envelope: EventEnvelope<Revoked>,
  activatedAt: Timestamp,
): Promise<ReadonlyMap<OrgId, SealWork>> => {
  const { kid, reason } = envelope.event.data;
  const { recorded, metadata } = envelope;
  const works = new Map<OrgId, SealWork>();
  for (const org of await organizationsUpTo(store, recorded.position)) {
    try {
      const last = await lastDeedUnder(store, org, kid, activatedAt);
      if (!last) continue;
      const asked = askedByAct(revocationAct(kid, reason, last), metadata);
      const request = { org, source: placeOf(envelope), position: recorded.position, ...asked };
      works.set(org, { requests: [request], fault: null });
    } catch (error) {
      works.set(org, { requests: [], fault: ownFaultOf(error) });
    }
  }
  return works;
};

/** @param last the organization's last deed under the key */
export const revocationAct = (
  kid: string,
  reason: string | null,
  last: Pick<LedgerEvent['data'], 'seq' | 'body_hash'>,
): AdminAct => ({
  action: 'seal_key.revoked',
  target: { type: 'seal_key', id: kid },
  reason,
  data: { kid, last_body_hash: last.body_hash, last_seq: last.seq },
});

/** Reads the ledger backwards, until a deed under the key or a time at which the key was not active yet. */
const lastDeedUnder = async (
  store: EventStore,
  org: OrgId,
  kid: string,
  activatedAt: Timestamp,
): Promise<LedgerEvent['data'] | null> => {
  const stream = streamOf('ledger', org);
  let from = (await store.heads([stream])).get(stream) ?? -1;
  while (from >= 0) {
    const page = await store.readStream(stream, { direction: 'backwards', from, limit: PAGE });
    for (const recorded of page) {
      const { data } = decodeEvent<LedgerEvent>(recorded).event;
      if (data.kid === kid) return data;
      if (data.issued_at < activatedAt) return null;
    }
    if (page.length === 0) break;
    from = (page[page.length - 1] as (typeof page)[number]).revision - 1;
  }
  return null;
};
