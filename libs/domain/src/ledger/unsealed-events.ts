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
import { NobodysEvent } from './ledger-fault.js';
import { standingLowWater } from './low-water.js';
import { ActionsInFlight, foldAction, sealRequestOf } from './seal-source.js';
import { SEAL_KEYS_STREAM } from './seal-key.decider.js';
import type { SealerProgress } from './sealing.ports.js';

/** In ordinary times the first event is young, and the look ends there. */
const FIRST_PAGE = 16;
const PAGE = 1_000;

/** An event that asks for a deed which the ledger does not hold, or an event that nobody is sealed past. */
export interface UnsealedEvent {
  readonly recorded: RecordedEvent;
  /** Null for what belongs to no single organization: a revoked seal key, or an event that does not say whose it is. */
  readonly org: OrgId | null;
  /** Why nobody at all is sealed past it; null for all others. */
  readonly fault: NobodysEvent | null;
}

export interface LookAtLog {
  /** The end of the log when the look begins: nothing beyond it is looked at. */
  readonly upTo: Position;
  /** Asked of each event before it is looked at, in their order; the look ends before the first of which it is true. */
  readonly endsBefore: (recorded: RecordedEvent) => boolean;
  /** Organizations that need not be looked at any more. */
  readonly isKnown?: (org: OrgId) => boolean;
}

/**
 * What waits for its deed, by the word of the log and the ledgers alone. So it is known also where no sealer runs, and
 * to a process that has only just started.
 */
export class UnsealedEvents {
  /** Up to here nothing waits, nor ever will: what is sealed stays sealed, and the other events ask for nothing. */
  private clearUpTo: Position = START;

  constructor(
    private readonly store: EventStore,
    private readonly progress: Pick<SealerProgress, 'lowWater'>,
    private readonly tails: Pick<LedgerTails, 'of'>,
  ) {}

  /** In the order of the log, from the sealer's low-water on. What the sealer has parked lies before that. */
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

  /** Null where it is void, and the sealer itself would begin at the start. */
  private async lowWater(): Promise<Position | null> {
    return standingLowWater(this.store, await this.progress.lowWater());
  }
}

interface Judgement extends Pick<UnsealedEvent, 'org' | 'fault'> {
  /** Null where nobody needs to know. */
  readonly isUnsealed: boolean | null;
}

/** Where the ledgers end, each asked once a look. */
class LedgersAtOnce {
  private readonly ends = new Map<OrgId, LedgerTail | null>();
  private readonly actions = new ActionsInFlight();

  /**
   * @param isLowWaterKnown only the sealer finds out which ledgers a revocation concerns, so a revocation waits until
   *   the low-water has passed it
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
    if (typeof org !== 'string') return { org: null, fault: new NobodysEvent(recorded), isUnsealed: true };
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
      // What cannot be read or folded cannot be sealed either.
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

  /** Null for a ledger that names an event which the log does not hold. */
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
