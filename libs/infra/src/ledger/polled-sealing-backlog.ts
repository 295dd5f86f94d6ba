import { SealingBacklog } from '#libs/domain/gate';
import { claimedTimeOf, type Clock, type EventStore, type OrgId } from '#libs/domain/kernel';
import type { SealerProgress, UnsealedEvents } from '#libs/domain/ledger';

/**
 * Finds events that have waited too long for their deed, from the sealer's low-water on, so that the result is right
 * even if no sealer runs. Usually it reads a few events and stops at the first, because no event after the low-water is
 * old.
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

  /**
   * Must be called every few seconds; takes longest when many events wait. A call during another one shares its result.
   */
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
      // Apart from small differences between clocks, the log is in order of time, so all later events are young enough.
      endsBefore: (recorded) => this.clock.nowMs() - (claimedTimeOf(recorded) ?? 0) < this.limitMs,
      isKnown: (org) => oldest.has(org),
    });
    for await (const { recorded, org } of waiting) {
      const atMs = claimedTimeOf(recorded);
      // An event without organization or time cannot be counted. The sealer parks the organization concerned, and
      // parked ones were counted above.
      if (org !== null && atMs !== null) oldest.set(org, atMs);
    }
    this.oldest = oldest;
  }
}
