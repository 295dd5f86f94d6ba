import {
  decodeEvent,
  isStoreAway,
  metadataOf,
  START,
  type EventEnvelope,
  type EventStore,
  type OrgId,
  type Position,
  type RecordedEvent,
} from '../kernel/index.js';
import type { LedgerTail, LedgerTails } from './ledger-tails.js';
import { EventWithoutOrganization } from './ledger-fault.js';
import { standingLowWater } from './low-water.js';
import { ActionsInFlight, foldAction, sealRequestOf } from './seal-source.js';
import { SEAL_KEYS_STREAM } from './seal-key.decider.js';
import type { SealerProgress } from './sealing.ports.js';

/** Small, because usually the first event is young and the search ends there. */
const FIRST_PAGE = 16;
const PAGE = 1_000;

/** An event whose deed the ledger does not hold, or an event that blocks sealing for everybody. */
export interface UnsealedEvent {
  readonly recorded: RecordedEvent;
  /** Null for an event of no single organization: a revoked seal key, or an event that names no organization. */
  readonly org: OrgId | null;
  /** Why nothing after the event can be sealed for anybody; null for an ordinary unsealed event. */
  readonly fault: EventWithoutOrganization | null;
}

export interface LookAtLog {
  /** The end of the log when the search begins; later events are ignored. */
  readonly upTo: Position;
  /** Called for each event in order; the search ends before the first event for which it is true. */
  readonly endsBefore: (recorded: RecordedEvent) => boolean;
  /** Organizations whose events may be skipped. */
  readonly isKnown?: (org: OrgId) => boolean;
}

/**
 * Finds events that wait for their deed, from the log and the ledgers alone. So it works even if no sealer runs, and in
 * a process that has just started.
 */
export class UnsealedEvents {
  /**
   * Up to here no event waits for a deed, and none ever will: a sealed event stays sealed, and the other events ask for
   * no deed.
   */
  private clearUpTo: Position = START;

  constructor(
    private readonly store: EventStore,
    private readonly progress: Pick<SealerProgress, 'lowWater'>,
    private readonly tails: Pick<LedgerTails, 'of'>,
  ) {}

  /**
   * Unsealed events in the order of the log, from the sealer's low-water on. Events of parked organizations may lie
   * before that.
   */
  async *inOrder({ upTo, endsBefore, isKnown = () => false }: LookAtLog): AsyncGenerator<UnsealedEvent, void> {
    const lowWater = await this.lowWater();
    const ledgers = new LedgersAtOnce(this.store, this.tails, lowWater !== null);
    let isClear = true;
    let after = lowWater === null || lowWater < this.clearUpTo ? this.clearUpTo : lowWater;
    for (let limit = FIRST_PAGE; after < upTo; limit = PAGE) {
      const page = await this.store.readAll(after, limit);
      for (const recorded of page) {
        if (recorded.position > upTo || endsBefore(recorded)) return;
        const { isUnsealed, ...whose } = await ledgers.judge(recorded, isKnown);
        isClear &&= isUnsealed === false;
        if (isUnsealed === true) yield { recorded, ...whose };
        if (isClear && recorded.position > this.clearUpTo) this.clearUpTo = recorded.position;
      }
      const last = page.at(-1);
      if (!last) return;
      after = last.position;
    }
  }

  /** Null if the low-water is void; the sealer itself would then begin at the start of the log. */
  private async lowWater(): Promise<Position | null> {
    return standingLowWater(this.store, await this.progress.lowWater());
  }
}

interface Judgement extends Pick<UnsealedEvent, 'org' | 'fault'> {
  /** Null if the organization's events are skipped. */
  readonly isUnsealed: boolean | null;
}

/** The ends of the ledgers, each read once per search. */
class LedgersAtOnce {
  private readonly ends = new Map<OrgId, LedgerTail | null>();
  private readonly actions = new ActionsInFlight();

  /**
   * @param isLowWaterKnown whether there is a low-water. Only the sealer finds out which ledgers a revocation concerns,
   * so a revocation counts as unsealed until the low-water has passed it
   */
  constructor(
    private readonly store: EventStore,
    private readonly tails: Pick<LedgerTails, 'of'>,
    private readonly isLowWaterKnown: boolean,
  ) {}

  async judge(recorded: RecordedEvent, isKnown: (org: OrgId) => boolean): Promise<Judgement> {
    const org = metadataOf(recorded)?.org;
    if (org === null) {
      const isRevocation = recorded.stream === SEAL_KEYS_STREAM && recorded.type === 'SealKeyRevoked';
      return { org, fault: null, isUnsealed: isRevocation && this.isLowWaterKnown };
    }
    if (typeof org !== 'string') return { org: null, fault: new EventWithoutOrganization(recorded), isUnsealed: true };
    const whose = org as OrgId;
    return { org: whose, fault: null, isUnsealed: isKnown(whose) ? null : await this.isUnsealed(recorded, whose) };
  }

  private async isUnsealed(recorded: RecordedEvent, org: OrgId): Promise<boolean> {
    const tail = await this.endOf(org);
    if (tail === null) return true;
    if (tail.sealedUpTo >= recorded.position) return false;
    try {
      const envelope = decodeEvent(recorded);
      const action = recorded.stream.startsWith('action-') ? await this.actionAfter(envelope) : null;
      return sealRequestOf(envelope, action) !== null;
    } catch (error) {
      if (isStoreAway(error)) throw error;
      // An event that cannot be read or folded cannot be sealed either.
      return true;
    }
  }

  private async actionAfter(envelope: EventEnvelope) {
    const { stream, revision } = envelope.recorded;
    const known = this.actions.after(envelope);
    if (known) return known;
    const earlier = await this.store.readStream(stream, { limit: revision + 1, mayRemember: true });
    const action = foldAction(earlier.map((event) => decodeEvent(event)));
    this.actions.remember(envelope.recorded, action);
    return action;
  }

  /**
   * The end of a ledger; null if the ledger cannot be read, for instance because its last deed names an event that the
   * log does not hold.
   */
  private async endOf(org: OrgId): Promise<LedgerTail | null> {
    const asked = this.ends.get(org);
    if (asked !== undefined) return asked;
    const end = await this.tails.of(org).catch((error: unknown) => {
      if (isStoreAway(error)) throw error;
      return null;
    });
    this.ends.set(org, end);
    return end;
  }
}
