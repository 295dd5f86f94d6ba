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

/** Deeds read at a time: enough to be quick, few enough to hold in memory at their largest. */
const PAGE_DEEDS = 128;

/**
 * The deeds of an organization as its ledger stream holds them. Seq n stands at revision n - 1, and neither place nor
 * content ever changes, so no answer of this class can be out of date.
 */
export class LedgerReader {
  constructor(private readonly store: EventStore) {}

  /** Of the last deed; 0 when there is none yet. */
  async lastSeq(org: OrgId): Promise<number> {
    const stream = streamOf('ledger', org);
    const revision = (await this.store.heads([stream])).get(stream);
    return revision === undefined ? 0 : revision + 1;
  }

  /** @throws {StoreUnavailable} what is stored there is not what was sealed: such bytes are handed to nobody */
  async deedAt(org: OrgId, seq: number): Promise<StoredDeed | null> {
    const recorded = await this.recordAt(org, seq);
    if (!recorded) return null;
    const deed = soundDataOf(recorded);
    if (!deed) throw new StoreUnavailable(`deed ${seq} of ${org} is not stored as it was sealed; run a ledger check`);
    return deed;
  }

  /**
   * A deed that is in the ledger, looked for from its end.
   * @throws {StoreUnavailable} it is not there as it was sealed
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

  /** When the last deed of any of these ledgers was issued; null when none holds one that is stored as it was sealed. */
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
    // The last deed says it. Earlier ones are read only where somebody has damaged that one.
    for (const limit of [1, PAGE_DEEDS]) {
      const page = await this.store.readStream(stream, { direction: 'backwards', limit });
      const last = page.map(soundDataOf).find((stored) => stored !== null);
      if (last) return last.issued_at;
    }
    return null;
  }

  /** Not yet read: what it holds may have been tampered with. */
  async recordAt(org: OrgId, seq: number): Promise<RecordedEvent | null> {
    const [recorded] = await this.store.readStream(streamOf('ledger', org), { from: seq - 1, limit: 1 });
    return recorded?.revision === seq - 1 ? recorded : null;
  }

  /** From `first` to `last`, both inclusive, a page at a time. Ends early where the stream does. */
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
   * The first of the deeds 1 to `last` that was issued at `instant` or later; `last` + 1 when none was. Times of a ledger
   * never decrease, so halving finds it. A deed that cannot be read counts as later, so that whoever reads on meets it.
   */
  async firstSeqSince(org: OrgId, instant: Timestamp, last: number): Promise<number> {
    let [low, high] = [1, last + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const issuedAt = issuedAtOf(await this.recordAt(org, middle));
      // Timestamps have one spelling of one length, so they compare as texts.
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

/** Null when the row was damaged or tampered with. */
const soundDataOf = (recorded: RecordedEvent): StoredDeed | null => {
  try {
    const deed = dataOf(recorded);
    return digestOf(Buffer.from(deed.body)) === deed.body_hash ? deed : null;
  } catch (error) {
    if (error instanceof DamagedEvent || error instanceof TypeError) return null;
    throw error;
  }
};
