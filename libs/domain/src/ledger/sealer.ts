import {
  AppendTooLarge,
  decodeEvent,
  encodeEventAs,
  failpoint,
  RequirementMoved,
  RevisionConflict,
  streamOf,
  uuidOfHash,
  actionChannel,
  deedChannel,
  type Append,
  type Bus,
  type Companions,
  type CompanionsEnd,
  type DepartingAppends,
  type EventEnvelope,
  type EventMetadata,
  type EventStore,
  type NewEvent,
  type OrgId,
  type Position,
  type RecordedEvent,
} from '../kernel/index.js';
import { deedMetadata, type SealedDeed } from './compose-deed.js';
import { DeedSigner, type SignedDeeds, type SignerParts } from './deed-signer.js';
import { departingRequest, type SealedSoFar } from './departing-request.js';
import { NobodysEvent, ownFaultOf } from './ledger-fault.js';
import type { LedgerTail } from './ledger-tails.js';
import { ActionsInFlight, foldAction, sealRequestOf, type SealRequest } from './seal-source.js';
import { compareLengths, type LedgerLengths, readCheckedTail, type SealedHeads } from './sealed-heads.js';

/** At most this many deeds in one append (rule DEED-8). */
const BATCH_MAX_DEEDS = 256;
/** A conflict means that another sealer wrote first: read the tail again and go on from there. */
const MAX_CONFLICTS = 8;

/** What events ask of one organization's ledger. */
export interface SealWork {
  /** The deeds it does not hold yet, in order. */
  readonly requests: SealRequest[];
  /** What kept the event after them from being read. Nothing of the organization that comes later is in `requests`. */
  fault: Error | null;
}

export interface SealerParts extends SignerParts {
  readonly store: EventStore;
  readonly heads: SealedHeads;
  readonly bus: Bus;
}

/** Seals what the log asks for, in the log's order. Feed it `$all`; it can be fed the same events again at any time. */
export class Sealer {
  private readonly actions = new ActionsInFlight();
  private readonly tails = new Map<OrgId, LedgerTail>();
  private readonly signer: DeedSigner;
  private readonly luck = new Luck();

  constructor(private readonly parts: SealerParts) {
    this.signer = new DeedSigner(parts);
  }

  /**
   * Which ledgers are shorter than they were, and which have grown, by one question for all. Nobody has to wait for it,
   * nor for the next: whoever seals reads where a ledger ends and compares for itself.
   * @throws {StoreUnavailable}
   */
  compareLengths(): Promise<LedgerLengths> {
    return compareLengths(this.parts.store, this.parts.heads);
  }

  /**
   * Compares the end of a ledger with what is remembered of it, and remembers it anew.
   * @throws {LedgerWentBack} and whatever keeps it from being read
   */
  async rememberAnew(org: OrgId): Promise<void> {
    await this.readTail(org);
  }

  /**
   * What these events ask for, by organization. An event that cannot be read or folded is its organization's own trouble.
   * @param only leaves the events of all other organizations alone
   * @throws {StoreUnavailable}
   * @throws {NobodysEvent}
   */
  async workIn(events: readonly RecordedEvent[], only: OrgId | null = null): Promise<Map<OrgId, SealWork>> {
    const works = new Map<OrgId, SealWork>();
    for (const recorded of events) {
      const org = orgOf(recorded);
      if (org === null || (only !== null && org !== only)) continue;
      const work = works.get(org) ?? { requests: [], fault: null };
      if (work.fault !== null) continue;
      try {
        const request = await this.requestIn(decodeEvent(recorded));
        if (!request) continue;
        work.requests.push(request);
      } catch (error) {
        work.fault = ownFaultOf(error);
      }
      works.set(org, work);
    }
    return works;
  }

  private async requestIn(envelope: EventEnvelope): Promise<SealRequest | null> {
    const { stream, revision, position } = envelope.recorded;
    if (!stream.startsWith('action-')) return sealRequestOf(envelope, null);
    let action = this.actions.after(envelope);
    if (!action) {
      const org = envelope.metadata.org as OrgId;
      // Long sealed: a resumed sealer passes over such events without reading their streams.
      if (position <= (await this.tailOf(org)).sealedUpTo) return null;
      const earlier = await this.parts.store.readStream(stream, { limit: revision + 1, mayRemember: true });
      action = foldAction(earlier.map((event) => decodeEvent(event)));
      this.actions.remember(envelope.recorded, action);
    }
    return sealRequestOf(envelope, action);
  }

  /**
   * Seals an organization's requests, oldest first. What its ledger already holds is passed over.
   * @throws {NoActiveSealKey}
   */
  async seal(org: OrgId, requests: readonly SealRequest[]): Promise<void> {
    let [conflicts, most] = [0, BATCH_MAX_DEEDS];
    for (let next = 0; next < requests.length;) {
      const tail = await this.tailOf(org);
      while (next < requests.length && (requests[next] as SealRequest).position <= tail.sealedUpTo) next += 1;
      if (next === requests.length) return;
      await failpoint('seal.before');
      const signed = await this.signer.sign(tail, requests.slice(next, next + most));
      try {
        await this.append(org, tail, signed);
        [conflicts, most] = [0, BATCH_MAX_DEEDS];
      } catch (error) {
        this.tails.delete(org);
        // Only bodies are counted, and an event escapes what is in them: the worst of texts may become twice as long.
        if (error instanceof AppendTooLarge && signed.deeds.length > 1) {
          most = Math.ceil(signed.deeds.length / 2);
          continue;
        }
        const isMoved = error instanceof RevisionConflict || error instanceof RequirementMoved;
        if (!isMoved || (conflicts += 1) > MAX_CONFLICTS) throw error;
        if (error instanceof RequirementMoved) await this.signer.askAgain();
      }
    }
  }

  /**
   * The deed of what departs, to go into the log with it: one commit instead of two that follow each other. Null where
   * the deed has to be sealed afterwards, as usual: something must be read, waited for or sealed first, or several
   * deeds are due.
   * @param isSealable false for an organization that is parked
   */
  accompany(departing: DepartingAppends, seenUpTo: Position, isSealable: (org: OrgId) => boolean): Companions | null {
    if (!this.luck.isWorthATry()) return null;
    const sealedUpTo = (org: OrgId): Position | null =>
      (isSealable(org) ? this.tails.get(org)?.sealedUpTo : undefined) ?? null;
    const actionBefore: SealedSoFar['actionBefore'] = (event) => this.actions.before(event);
    const request = departingRequest(departing, { seenUpTo, sealedUpTo, actionBefore });
    return request && this.deedAlong(request);
  }

  private deedAlong(request: SealRequest): Companions | null {
    const { org } = request;
    const tail = this.tails.get(org);
    const signed = tail && this.signer.signAtOnce(tail, request);
    if (!signed) return null;
    return {
      appends: [appendOf(org, tail, signed.deeds)],
      requires: signed.keys,
      ended: (end) => {
        this.luck.had(end);
        if (end === 'written') this.remember(org, signed.deeds);
        else if (end === 'unclear') this.tails.delete(org);
      },
    };
  }

  /**
   * Checks that nothing is wrong with the end of the ledger.
   * @throws {LedgerWentBack} and whatever keeps it from being read
   */
  async requireWhole(org: OrgId): Promise<void> {
    await this.tailOf(org);
  }

  /** Forget what was read: another process may have sealed meanwhile. */
  forget(org: OrgId): void {
    this.tails.delete(org);
  }

  private async tailOf(org: OrgId): Promise<LedgerTail> {
    const known = this.tails.get(org);
    if (known) return known;
    const tail = await this.readTail(org);
    this.tails.set(org, tail);
    return tail;
  }

  private async readTail(org: OrgId): Promise<LedgerTail> {
    const tail = await readCheckedTail(this.parts.store, this.parts.heads, org);
    // It may hold deeds whose append was unclear.
    if (tail.bodyHash !== null) await this.parts.heads.remember({ org, seq: tail.seq, bodyHash: tail.bodyHash });
    return tail;
  }

  private async append(org: OrgId, tail: LedgerTail, { deeds, keys }: SignedDeeds): Promise<void> {
    const append = appendOf(org, tail, deeds);
    await this.parts.store.append(this.parts.store.canRequire ? { ...append, requires: keys } : append);
    this.remember(org, deeds);
  }

  /** These deeds stand in the log now. Nobody waits for the file; what cannot be written there is said in the log. */
  private remember(org: OrgId, deeds: readonly SealedDeed[]): void {
    const last = deeds[deeds.length - 1] as SealedDeed;
    const { seq, body_hash: bodyHash, issued_at: issuedAt } = last.event.data;
    this.tails.set(org, { seq, bodyHash, issuedAt, sealedUpTo: last.request.position });
    for (const { event } of deeds) {
      const { action, deed } = event.data;
      this.parts.bus.publish(action === null ? deedChannel(deed) : actionChannel(action), 'sealed');
    }
    void this.parts.heads.remember({ org, seq, bodyHash });
  }
}

const LONGEST_PAUSE = 255;

/**
 * Where other processes write as well, a deed is often signed for a place in the log that is taken by then. Each time
 * that it was left out, twice as many calls depart before the next try.
 */
class Luck {
  private pause = 0;
  private left = 0;

  isWorthATry(): boolean {
    if (this.left === 0) return true;
    this.left -= 1;
    return false;
  }

  had(end: CompanionsEnd): void {
    this.pause = end === 'written' ? 0 : Math.min(2 * this.pause + 1, LONGEST_PAUSE);
    this.left = this.pause;
  }
}

const appendOf = (org: OrgId, tail: LedgerTail, deeds: readonly SealedDeed[]): Append => {
  const stream = streamOf('ledger', org);
  const events = deeds.map(encodeDeed);
  return { stream, expectedRevision: tail.seq === 0 ? 'no_stream' : tail.seq - 1, events };
};

/** Of an event whose data may be unreadable. */
const orgOf = (recorded: RecordedEvent): OrgId | null => {
  try {
    return decodeEvent(recorded).metadata.org as OrgId | null;
  } catch {
    return orgInMetadata(recorded);
  }
};

const orgInMetadata = (recorded: RecordedEvent): OrgId | null => {
  try {
    return (JSON.parse(recorded.metadata) as EventMetadata).org as OrgId | null;
  } catch (error) {
    throw new NobodysEvent(recorded, error);
  }
};

/** A deed's event takes its id from the body hash: sealing the same bytes at the same place is one event. */
const encodeDeed = ({ event, request }: SealedDeed): NewEvent => {
  const id = uuidOfHash(event.data.body_hash.slice('sha256:'.length));
  return encodeEventAs(id, event, deedMetadata(event, request.source));
};
