import { SealingBacklog } from '#libs/domain/gate';
import {
  decodeEvent,
  isStoreAway,
  START,
  type Clock,
  type EventEnvelope,
  type EventStore,
  type OrgId,
  type RecordedEvent,
} from '#libs/domain/kernel';
import { foldAction, sealRequestOf, type LedgerTail, type LedgerTails, type SealerProgress } from '#libs/domain/ledger';

const PAGE = 1_000;

/**
 * Looks from the sealer's low-water on for what has been waiting too long, so that it tells the truth also when no sealer
 * runs at all. In ordinary times it reads one event and stops: nothing after the low-water is old.
 */
export class PolledSealingBacklog extends SealingBacklog {
  private oldest = new Map<OrgId, number>();
  private underWay: Promise<void> | null = null;

  constructor(
    private readonly store: EventStore,
    private readonly progress: Pick<SealerProgress, 'lowWater' | 'parked'>,
    private readonly tails: LedgerTails,
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {
    super();
  }

  override oldestUnsealedAgeMs(org: OrgId): number {
    const since = this.oldest.get(org);
    return since === undefined ? 0 : Math.max(0, this.clock.nowMs() - since);
  }

  /** Called every few seconds; takes longest when much waits. A call while one is under way is that one. */
  refresh(): Promise<void> {
    this.underWay ??= this.read().finally(() => {
      this.underWay = null;
    });
    return this.underWay;
  }

  private async read(): Promise<void> {
    const storeId = await this.store.storeId();
    const oldest = new Map<OrgId, number>();
    for (const { org, since } of await this.progress.parked()) oldest.set(org, Date.parse(since));
    const lowWater = await this.progress.lowWater();
    let after = lowWater?.storeId === storeId ? lowWater.position : START;
    for (;;) {
      const page = await this.store.readAll(after, PAGE);
      for (const recorded of page) {
        const envelope = readable(recorded);
        // Whose it is cannot be told; the sealer parks whoever is concerned, and parked ones were counted above.
        if (envelope === null) continue;
        const atMs = Date.parse(envelope.metadata.at);
        // The log is in order of time but for small differences between clocks: everything after is young enough.
        if (this.clock.nowMs() - atMs < this.limitMs) {
          this.oldest = oldest;
          return;
        }
        const org = envelope.metadata.org as OrgId | null;
        if (org === null || oldest.has(org) || !(await this.isUnsealed(envelope, org))) continue;
        oldest.set(org, atMs);
      }
      const last = page.at(-1);
      if (!last) break;
      after = last.position;
    }
    this.oldest = oldest;
  }

  private async isUnsealed(envelope: ReturnType<typeof decodeEvent>, org: OrgId): Promise<boolean> {
    const { stream, revision, position } = envelope.recorded;
    const tail = await this.tailOf(org);
    if (tail === null) return true;
    if (tail.sealedUpTo >= position) return false;
    const isAction = stream.startsWith('action-');
    const earlier = isAction ? await this.store.readStream(stream, { limit: revision + 1, mayRemember: true }) : [];
    try {
      if (!isAction) return sealRequestOf(envelope, null) !== null;
      return sealRequestOf(envelope, foldAction(earlier.map((event) => decodeEvent(event)))) !== null;
    } catch {
      // What cannot be folded cannot be sealed either.
      return true;
    }
  }

  /** Null for a ledger that names an event which the log does not hold. */
  private async tailOf(org: OrgId): Promise<LedgerTail | null> {
    try {
      return await this.tails.of(org);
    } catch (error) {
      if (isStoreAway(error)) throw error;
      return null;
    }
  }
}

const readable = (recorded: RecordedEvent): EventEnvelope | null => {
  try {
    return decodeEvent(recorded);
  } catch {
    return null;
  }
};
