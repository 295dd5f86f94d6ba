import {
  decodeEvent,
  START,
  streamOf,
  StoreUnavailable,
  type EventStore,
  type OrgId,
  type Position,
} from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';
import type { Digest } from '#libs/crypto';

/** The last deed of an organization, and how far its log is sealed. */
export interface LedgerTail {
  /** 0 when no deed was sealed yet. */
  readonly seq: number;
  readonly bodyHash: Digest | null;
  readonly issuedAt: string | null;
  /** Position of the last deed's source event: every sealing event of the organization up to here has its deed. */
  readonly sealedUpTo: Position;
}

const EMPTY: LedgerTail = { seq: 0, bodyHash: null, issuedAt: null, sealedUpTo: START };

/**
 * Whether something is sealed is the ledger's word alone (architecture, 'What a decision reads'). Source positions of a
 * ledger never decrease, so its tail answers for everything before it.
 */
export class LedgerTails {
  private readonly cache = new Map<OrgId, LedgerTail>();
  private readonly reading = new Map<OrgId, Promise<LedgerTail>>();
  private readonly queued = new Map<OrgId, Promise<LedgerTail>>();

  constructor(private readonly store: EventStore) {}

  /** As of a moment no earlier than the call. Callers that arrive together share one read. */
  async of(org: OrgId): Promise<LedgerTail> {
    const current = this.reading.get(org);
    if (!current) return this.start(org);
    // A read under way may have begun before this call: wait for the next one, which all latecomers share.
    const next =
      this.queued.get(org) ??
      current.then(
        () => this.start(org),
        () => this.start(org),
      );
    this.queued.set(org, next);
    return next;
  }

  private start(org: OrgId): Promise<LedgerTail> {
    this.queued.delete(org);
    const read = this.read(org).finally(() => {
      if (this.reading.get(org) === read) this.reading.delete(org);
    });
    this.reading.set(org, read);
    return read;
  }

  private async read(org: OrgId): Promise<LedgerTail> {
    const stream = streamOf('ledger', org);
    const revision = (await this.store.heads([stream])).get(stream);
    if (revision === undefined) return EMPTY;
    const known = this.cache.get(org);
    if (known && known.seq === revision + 1) return known;
    const tail = await readTail(this.store, org);
    this.cache.set(org, tail);
    return tail;
  }
}

/** Straight from the store: the last deed, and the place of its source. */
export const readTail = async (store: EventStore, org: OrgId): Promise<LedgerTail> => {
  const [last] = await store.readStream(streamOf('ledger', org), { direction: 'backwards', limit: 1 });
  if (!last) return EMPTY;
  const { event, metadata } = decodeEvent<LedgerEvent>(last);
  if (!metadata.source) throw new Error(`deed ${event.data.deed} names no source event`);
  const { stream, revision } = metadata.source;
  const [source] = await store.readStream(stream, { from: revision, limit: 1 });
  if (!source) throw new StoreUnavailable(`the source of deed ${event.data.deed} could not be read`);
  const { seq, body_hash: bodyHash, issued_at: issuedAt } = event.data;
  return { seq, bodyHash, issuedAt, sealedUpTo: source.position };
};
