import { SealingBacklog } from '#libs/domain/gate';
import { toldTimeOf, type Clock, type EventStore, type OrgId } from '#libs/domain/kernel';
import type { SealerProgress, UnsealedEvents } from '#libs/domain/ledger';

/**
 * Looks from the sealer's low-water on for what has been waiting too long, so that it tells the truth also when no sealer
 * runs at all. In ordinary times it reads a few events and stops at the first: nothing after the low-water is old.
 */
export class PolledSealingBacklog extends SealingBacklog {
  private oldest = new Map<OrgId, number>();
  private underWay: Promise<void> | null = null;

  constructor(
    private readonly store: Pick<EventStore, 'head'>,
    private readonly progress: Pick<SealerProgress, 'parked'>,
    private readonly unsealed: UnsealedEvents,
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
    const oldest = new Map<OrgId, number>();
    for (const { org, since } of await this.progress.parked()) oldest.set(org, Date.parse(since));
    const waiting = this.unsealed.inOrder({
      upTo: await this.store.head(),
      // The log is in order of time but for small differences between clocks: everything after is young enough.
      endsBefore: (recorded) => this.clock.nowMs() - (toldTimeOf(recorded) ?? 0) < this.limitMs,
      isKnown: (org) => oldest.has(org),
    });
    for await (const { recorded, org } of waiting) {
      const atMs = toldTimeOf(recorded);
      // Whose it is, or since when, cannot be told; the sealer parks whoever is concerned, and parked ones were counted above.
      if (org !== null && atMs !== null) oldest.set(org, atMs);
    }
    this.oldest = oldest;
  }
}
