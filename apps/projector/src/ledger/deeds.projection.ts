import type { DeedBody } from '#libs/crypto';
import type { AgentId, EventEnvelope, EventTypes } from '#libs/domain/kernel';
import { aboutOf, type LedgerEvent } from '#libs/domain/ledger';
import { DeedRow } from '#libs/infra/read-models';
import { UnreadableEvent, type Projection } from '../projection.js';

const LEDGER_EVENTS: EventTypes<LedgerEvent> = { DeedSealed: true };

/** Envelopes of GET /v1/deeds. Nothing ever changes one. */
export const deedsProjection: Projection = {
  name: 'deeds',
  version: 2,
  follows: { ledger: LEDGER_EVENTS },
  rowTypes: [DeedRow],

  async project(events, rows) {
    await rows.upsert(DeedRow, events.map(deedRow));
  },
};

const deedRow = (envelope: EventEnvelope): DeedRow => {
  const { data } = envelope.event as LedgerEvent;
  const { agent, about } = saidIn(envelope);
  return {
    id: data.deed,
    org: data.org,
    seq: data.seq,
    kind: data.kind,
    action: data.action,
    agent: data.kind === 'admin' ? null : agent,
    issuedAt: data.issued_at,
    bodyHash: data.body_hash,
    prevHash: data.prev_hash,
    kid: data.kid,
    signature: data.signature,
    about,
  };
};

/** The body alone says whose action it was, and what it is about. */
const saidIn = ({ event, recorded }: EventEnvelope): Pick<DeedRow, 'agent' | 'about'> => {
  try {
    const body = JSON.parse((event as LedgerEvent).data.body) as DeedBody;
    return { agent: body.who.agent as AgentId | null, about: aboutOf(body) };
  } catch (error) {
    throw new UnreadableEvent(recorded, 'corrupt', error);
  }
};
