import { Injectable } from '@nestjs/common';
import {
  Bus,
  Clock,
  deedChannel,
  deedOf,
  type EndSignal,
  type EventEnvelope,
  type OrgId,
  type DeedId,
} from '#libs/domain/kernel';
import { LedgerReader, LedgerTails, type StoredDeed } from '#libs/domain/ledger';
import { Bell } from '../bell.js';

/** A waiting request reads the ledger at least this often, so a lost message delays it by no more than this. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Waits on the bus for the deed of a change. It subscribes before it reads the ledger, so that it cannot miss a seal in
 * between.
 */
@Injectable()
export class AwaitDeed {
  constructor(
    private readonly ledger: LedgerReader,
    private readonly tails: LedgerTails,
    private readonly bus: Bus,
    private readonly clock: Clock,
  ) {}

  /**
   * The deed that seals an event of the organization; null if the time ends first or the caller has gone.
   * @throws {StoreUnavailable} when the store gives no answer, or the deed is not stored as it was sealed
   */
  async sealing(
    event: EventEnvelope,
    org: OrgId,
    { waitMs, ended }: { readonly waitMs: number; readonly ended: EndSignal },
  ): Promise<StoredDeed | null> {
    const deed = deedOf(event) as DeedId;
    const deadline = this.clock.monotonicMs() + waitMs;
    const bell = new Bell();
    const leave = this.bus.subscribe(deedChannel(deed), () => bell.ring());
    try {
      for (;;) {
        bell.reset();
        const { sealedUpTo } = await this.tails.of(org);
        if (event.recorded.position <= sealedUpTo) return await this.ledger.latest(org, deed);
        const remainingMs = deadline - this.clock.monotonicMs();
        if (remainingMs <= 0 || ended.aborted) return null;
        await bell.rungWithin(Math.min(remainingMs, LOOK_AGAIN_MS), ended);
      }
    } finally {
      leave();
    }
  }
}
