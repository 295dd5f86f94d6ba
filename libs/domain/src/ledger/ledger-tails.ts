import {
  decodeEvent,
  idInStream,
  MissingEvent,
  START,
  streamOf,
  type EventStore,
  type OrgId,
  type Position,
  type RecordedEvent,
} from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';
import type { Digest } from '#libs/crypto';

/** The last deed of an organization, and how far the log is sealed for it. */
export interface LedgerTail {
  /** 0 if no deed was sealed yet. */
  readonly seq: number;
  readonly bodyHash: Digest | null;
  readonly issuedAt: string | null;
  /** Position of the last deed's source event: every sealing event of the organization up to here has its deed. */
  readonly sealedUpTo: Position;
}

const EMPTY: LedgerTail = { seq: 0, bodyHash: null, issuedAt: null, sealedUpTo: START };

/**
 * The ends of ledgers. Only the ledger itself says whether an event is sealed (rule GATE-2). The source positions of a
 * ledger's deeds never decrease, so its tail answers for every earlier event.
 */
export class LedgerTails {
  private readonly cache = new Map<OrgId, LedgerTail>();

  constructor(private readonly store: EventStore) {}

  /** The tail of a ledger, as of a moment no earlier than the call. */
  async of(org: OrgId): Promise<LedgerTail> {
    const stream = ledgerStream(org);
    return this.at(org, (await this.store.heads([stream])).get(stream));
  }

  /** The tail at a revision that the caller has just read from the store; undefined for a ledger without a deed. */
  async at(org: OrgId, revision: number | undefined): Promise<LedgerTail> {
    if (revision === undefined) return EMPTY;
    const known = this.cache.get(org);
    if (known && known.seq > revision) return known;
    const tail = await tailAt(this.store, org, revision);
    if ((this.cache.get(org)?.seq ?? 0) < tail.seq) this.cache.set(org, tail);
    return tail;
  }
}

/** Reads the tail from the store, without the cache: the last deed, and the position of its source. */
export const readTail = async (store: EventStore, org: OrgId): Promise<LedgerTail> => {
  const stream = ledgerStream(org);
  const revision = (await store.heads([stream])).get(stream);
  return revision === undefined ? EMPTY : tailAt(store, org, revision);
};

export const ledgerStream = (org: OrgId): string => streamOf('ledger', org);

const tailAt = async (store: EventStore, org: OrgId, last: number): Promise<LedgerTail> => {
  const { event, metadata } = decodeEvent<LedgerEvent>(await eventAt(store, ledgerStream(org), last));
  if (!metadata.source) throw new Error(`deed ${event.data.deed} names no source event`);
  const source = await eventAt(store, metadata.source.stream, metadata.source.revision);
  const { seq, body_hash: bodyHash, issued_at: issuedAt } = event.data;
  return { seq, bodyHash, issuedAt, sealedUpTo: source.position };
};

const eventAt = async (store: EventStore, stream: string, revision: number): Promise<RecordedEvent> => {
  const [event] = await store.readStream(stream, { from: revision, limit: 1, mayRemember: true });
  if (event?.revision !== revision) throw new MissingEvent(stream, revision);
  return event;
};

const ORGANIZATIONS_PAGE = 1_000;

/** The organizations that were created up to a position, inclusive. No other has a ledger there. */
export const organizationsUpTo = async (store: EventStore, end: Position): Promise<readonly OrgId[]> => {
  const organizations: OrgId[] = [];
  for (let after = START; after < end;) {
    const page = await store.readAll(after, ORGANIZATIONS_PAGE);
    for (const recorded of page) {
      if (recorded.type !== 'OrganizationCreated' || recorded.position > end) continue;
      organizations.push(idInStream(recorded.stream) as OrgId);
    }
    const last = page.at(-1);
    if (!last) break;
    after = last.position;
  }
  return organizations;
};
