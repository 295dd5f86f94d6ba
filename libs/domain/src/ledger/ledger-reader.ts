import { digestOf } from '#libs/crypto';
import {
  DamagedEvent,
  decodeEvent,
  type EventStore,
  type DeedId,
  type OrgId,
  StoreUnavailable,
  streamOf,
  type RecordedEvent,
  type Timestamp,
} from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';

export type StoredDeed = LedgerEvent['data'];

/** The number of deeds read at a time: enough to be quick, few enough to hold in memory at their largest. */
const PAGE_DEEDS = 128;

/**
 * The deeds of an organization as its ledger stream holds them. Seq n is at revision n - 1. Neither place nor content
 * of a deed ever changes, so an answer of this class about a deed cannot become outdated.
 */
export class LedgerReader {
  constructor(private readonly store: EventStore) {}

  /** The seq of the last deed; 0 if there is none yet. */
  async lastSeq(org: OrgId): Promise<number> {
    const stream = streamOf('ledger', org);
    const revision = (await this.store.heads([stream])).get(stream);
    return revision === undefined ? 0 : revision + 1;
  }

  /**
   * Null if the ledger has no such deed.
   * @throws {StoreUnavailable} when the stored deed is not as it was sealed; such bytes are never returned
   */
  async deedAt(org: OrgId, seq: number): Promise<StoredDeed | null> {
    const recorded = await this.recordAt(org, seq);
    if (!recorded) return null;
    const deed = soundDataOf(recorded);
    if (!deed) throw new StoreUnavailable(`deed ${seq} of ${org} is not stored as it was sealed; run a ledger check`);
    return deed;
  }

  /** As {@link deedAt}, but null also where what is stored is not as it was sealed. */
  async soundDeedAt(org: OrgId, seq: number): Promise<StoredDeed | null> {
    const recorded = await this.recordAt(org, seq);
    return recorded && soundDataOf(recorded);
  }

  /**
   * A deed that is known to be in the ledger, searched from its end.
   * @throws {StoreUnavailable} when the deed is not there as it was sealed
   */
  async latest(org: OrgId, deed: DeedId): Promise<StoredDeed> {
    const stream = streamOf('ledger', org);
    for (let last = await this.lastSeq(org); last > 0; last -= PAGE_DEEDS) {
      const page = await this.store.readStream(stream, { direction: 'backwards', from: last - 1, limit: PAGE_DEEDS });
      const found = page.map(soundDataOf).find((stored) => stored?.deed === deed);
      if (found) return found;
    }
    throw new StoreUnavailable(`${deed} is not stored as it was sealed; run a ledger check of ${org}`);
  }

  /** When the last deed of any of these ledgers was issued; null if none has a deed that is stored as it was sealed. */
  async latestIssuedAt(orgs: readonly OrgId[]): Promise<Timestamp | null> {
    let latest: Timestamp | null = null;
    for (const org of orgs) {
      const issuedAt = await this.lastIssuedAt(org);
      if (issuedAt !== null && (latest === null || issuedAt > latest)) latest = issuedAt;
    }
    return latest;
  }

  private async lastIssuedAt(org: OrgId): Promise<Timestamp | null> {
    const stream = streamOf('ledger', org);
    // Usually the last deed is enough. Earlier ones are read only if that one was damaged.
    for (const limit of [1, PAGE_DEEDS]) {
      const page = await this.store.readStream(stream, { direction: 'backwards', limit });
      const last = page.map(soundDataOf).find((stored) => stored !== null);
      if (last) return last.issued_at;
    }
    return null;
  }

  /** The stored event of a deed, not decoded: its content may have been tampered with. */
  async recordAt(org: OrgId, seq: number): Promise<RecordedEvent | null> {
    const [recorded] = await this.store.readStream(streamOf('ledger', org), { from: seq - 1, limit: 1 });
    return recorded?.revision === seq - 1 ? recorded : null;
  }

  /** The stored events from `first` to `last`, both inclusive, read a page at a time. Ends early if the stream does. */
  async *records(org: OrgId, first: number, last: number): AsyncGenerator<RecordedEvent> {
    for (let seq = first; seq <= last;) {
      const limit = Math.min(PAGE_DEEDS, last - seq + 1);
      const page = await this.store.readStream(streamOf('ledger', org), { from: seq - 1, limit });
      yield* page;
      if (page.length < limit) return;
      seq += page.length;
    }
  }

  async *deeds(org: OrgId, first: number, last: number): AsyncGenerator<StoredDeed> {
    for await (const recorded of this.records(org, first, last)) yield dataOf(recorded);
  }

  /**
   * The seq of the first of the deeds 1 to `last` that was issued at `instant` or later; `last` + 1 if none was. Times
   * of a ledger never decrease, so a binary search finds it. A deed that cannot be read counts as later, so that the
   * caller meets it when it reads on.
   */
  async firstSeqSince(org: OrgId, instant: Timestamp, last: number): Promise<number> {
    let [low, high] = [1, last + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const issuedAt = issuedAtOf(await this.recordAt(org, middle));
      // Timestamps have one spelling of one length, so they can be compared as strings.
      if (issuedAt === null || issuedAt >= instant) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

const dataOf = (recorded: RecordedEvent): StoredDeed => decodeEvent<LedgerEvent>(recorded).event.data;

const issuedAtOf = (recorded: RecordedEvent | null): Timestamp | null => {
  if (recorded === null) return null;
  try {
    const { issued_at: issuedAt } = dataOf(recorded) as Partial<StoredDeed>;
    return typeof issuedAt === 'string' ? issuedAt : null;
  } catch (error) {
    if (error instanceof DamagedEvent) return null;
    throw error;
  }
};

/** Null if the stored deed was damaged or tampered with. */
const soundDataOf = (recorded: RecordedEvent): StoredDeed | null => {
  try {
    const deed = dataOf(recorded);
    return digestOf(Buffer.from(deed.body)) === deed.body_hash ? deed : null;
  } catch (error) {
    if (error instanceof DamagedEvent || error instanceof TypeError) return null;
    throw error;
  }
};
