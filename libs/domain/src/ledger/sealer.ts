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
  type CompoundAppends,
  type DepartingAppends,
  type EventEnvelope,
  type EventMetadata,
  type EventStore,
  type NewEvent,
  type NewMap,
  type OrgId,
  type Position,
  type RecordedEvent,
} from '../kernel/index.js';
import { deedMetadata, type SealedDeed } from './compose-deed.js';
import { DeedSigner, type SignerParts } from './deed-signer.js';
import { departingRequest, type SealedSoFar } from './departing-request.js';
import { EventWithoutOrganization, ownFaultOf } from './ledger-fault.js';
import type { LedgerTail } from './ledger-tails.js';
import { ActionsInFlight, foldAction, sealRequestOf, type SealRequest } from './seal-source.js';
import type { SignedDeeds } from './seal-keys-in-force.js';
import { compareLengths, type LedgerLengths, readCheckedTail, type SealedHeads } from './sealed-heads.js';

/** The most deeds in one append (rule DEED-8). */
const BATCH_MAX_DEEDS = 256;
/** A conflict means that another sealer wrote first. The tail is then read again, at most this many times in a row. */
const MAX_CONFLICTS = 8;

/** The deeds that events ask for in one organization's ledger. */
export interface SealWork {
  /** The requests, in order; some of their deeds may be in the ledger already. */
  readonly requests: SealRequest[];
  /**
   * Why the event after these could not be read or folded. `requests` has nothing of the organization from there on.
   */
  fault: Error | null;
}

export interface SealerParts extends SignerParts {
  readonly store: EventStore;
  readonly appends: Pick<CompoundAppends, 'append'>;
  readonly heads: SealedHeads;
  readonly bus: Bus;
  /** Where the actions under way are kept. Default: a `Map`. */
  readonly newMap?: NewMap;
}

/**
 * Seals what the log asks for, in the order of the log. The caller passes it all events; it may pass the same events
 * again at any time.
 */
export class Sealer {
  private readonly actions: ActionsInFlight;
  private readonly tails = new Map<OrgId, LedgerTail>();
  private readonly signer: DeedSigner;
  private readonly backoff = new CompanionBackoff();

  constructor(private readonly parts: SealerParts) {
    this.signer = new DeedSigner(parts);
    this.actions = new ActionsInFlight(undefined, parts.newMap);
  }

  /**
   * Compares the lengths of all remembered ledgers with few questions to the store. Sealing need not wait for the
   * result, because `seal` compares the end of the ledger by itself.
   * @throws {StoreUnavailable} when the store gives no answer
   */
  compareLengths(): Promise<LedgerLengths> {
    return compareLengths(this.parts.store, this.parts.heads);
  }

  /**
   * Compares the end of a ledger with its remembered head, and remembers the new end.
   * @throws {LedgerWentBack} when the ledger lacks the remembered deed
   * @throws whatever keeps the ledger from being read
   */
  async rememberAnew(org: OrgId): Promise<void> {
    await this.readTail(org);
  }

  /**
   * The deeds that these events ask for, by organization. An event that cannot be read or folded is the fault of its
   * organization's work and does not affect the others.
   * @param only the organization whose events alone are looked at; null for all
   * @throws {StoreUnavailable} when the store gives no answer
   * @throws {EventWithoutOrganization} when an event names no organization
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
      // The event is sealed already: after a restart, the sealer skips such events without reading their streams.
      if (position <= (await this.tailOf(org)).sealedUpTo) return null;
      const earlier = await this.parts.store.readStream(stream, { limit: revision + 1, mayRemember: true });
      action = foldAction(earlier.map((event) => decodeEvent(event)));
      this.actions.remember(envelope.recorded, action);
    }
    return sealRequestOf(envelope, action);
  }

  /**
   * Seals an organization's requests, oldest first. Requests whose deeds the ledger already has are skipped.
   * @throws {NoActiveSealKey} when no key is valid now
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
        // The signer counts the bytes of bodies only, but the event's JSON escapes them and may be twice as long.
        if (error instanceof AppendTooLarge && signed.deeds.length > 1) {
          most = Math.ceil(signed.deeds.length / 2);
          continue;
        }
        const isMoved = error instanceof RevisionConflict || error instanceof RequirementMoved;
        if (!isMoved || (conflicts += 1) > MAX_CONFLICTS) throw error;
        if (error instanceof RequirementMoved) await this.parts.keysInForce.askAgain();
      }
    }
  }

  /**
   * The deed for departing appends, to be written in the same commit instead of in a second one. Null if the deed has
   * to be sealed afterwards as usual: because something must be read, awaited or sealed first, or because several deeds
   * are due.
   * @param isSealable false for an organization that is parked
   */
  accompany(departing: DepartingAppends, seenUpTo: Position, isSealable: (org: OrgId) => boolean): Companions | null {
    if (!this.backoff.mayTry()) return null;
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
        this.backoff.companionsEnded(end);
        if (end === 'written') this.remember(org, signed.deeds);
        else if (end === 'unclear') this.tails.delete(org);
      },
    };
  }

  /**
   * Checks that the ledger still has the deed that is remembered as its last.
   * @throws {LedgerWentBack} when it does not
   * @throws whatever keeps the ledger from being read
   */
  async requireWhole(org: OrgId): Promise<void> {
    await this.tailOf(org);
  }

  /** Drops the cached tail of a ledger, because another process may have sealed meanwhile. */
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
    // The ledger may have deeds whose append had an unclear result, so its head is remembered again.
    if (tail.bodyHash !== null) await this.parts.heads.remember({ org, seq: tail.seq, bodyHash: tail.bodyHash });
    return tail;
  }

  private async append(org: OrgId, tail: LedgerTail, { deeds, keys }: SignedDeeds): Promise<void> {
    const append = appendOf(org, tail, deeds);
    await this.parts.appends.append(append, { requires: keys });
    this.remember(org, deeds);
  }

  /** Takes note that these deeds are in the log. Writing the file of heads is not awaited; a failure is logged. */
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

const LONGEST_BACKOFF = 255;

/**
 * Decides when to try to send a deed along. If other processes write to the log too, the deed is often signed for a
 * place that is already taken. Each time it was left out, twice as many calls are skipped before the next try.
 */
class CompanionBackoff {
  private pause = 0;
  private left = 0;

  mayTry(): boolean {
    if (this.left === 0) return true;
    this.left -= 1;
    return false;
  }

  companionsEnded(end: CompanionsEnd): void {
    this.pause = end === 'written' ? 0 : Math.min(2 * this.pause + 1, LONGEST_BACKOFF);
    this.left = this.pause;
  }
}

const appendOf = (org: OrgId, tail: LedgerTail, deeds: readonly SealedDeed[]): Append => {
  const stream = streamOf('ledger', org);
  const events = deeds.map(encodeDeed);
  return { stream, expectedRevision: tail.seq === 0 ? 'no_stream' : tail.seq - 1, events };
};

/** The organization of an event, even if its data cannot be read. */
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
    throw new EventWithoutOrganization(recorded, error);
  }
};

/**
 * The id of a deed's event is derived from the body hash, so sealing the same bytes at the same place again is one
 * event.
 */
const encodeDeed = ({ event, request }: SealedDeed): NewEvent => {
  const id = uuidOfHash(event.data.body_hash.slice('sha256:'.length));
  return encodeEventAs(id, event, deedMetadata(event, request.source));
};
