import type { SigningKey } from '#libs/crypto';
import {
  AppendTooLarge,
  decodeEvent,
  encodeEventAs,
  eventMetadata,
  failpoint,
  ForeseenFault,
  ONLY_STREAM,
  RequirementMoved,
  RevisionConflict,
  streamOf,
  streamRef,
  SYSTEM,
  timestampOf,
  uuidOfHash,
  actionChannel,
  type Append,
  type Bus,
  type Clock,
  type Companions,
  type CompanionsEnd,
  type DepartingAppends,
  type EventEnvelope,
  type EventMetadata,
  type EventStore,
  type Folded,
  type FoldedStreams,
  type NewEvent,
  type OrgId,
  type Position,
  type RecordedEvent,
  type Timestamp,
} from '../kernel/index.js';
import {
  composeDeed,
  sealComposed,
  sealComposedSync,
  type ChainEnd,
  type ComposedDeed,
  type SealedDeed,
} from './compose-deed.js';
import { departingRequest, type SealedSoFar } from './departing-request.js';
import { NobodysEvent, ownFaultOf } from './ledger-fault.js';
import type { LedgerTail } from './ledger-tails.js';
import { nextSeal, type NextSeal, sealKeyDecider, type SealKeys } from './seal-key.decider.js';
import { ActionsInFlight, foldAction, sealRequestOf, type SealRequest } from './seal-source.js';
import {
  compareLengths,
  type LedgerLengths,
  readCheckedTail,
  type SealedHead,
  type SealedHeads,
} from './sealed-heads.js';
import type { SealKeyRing } from './sealing.ports.js';

/** Deeds, and the keys that they were signed under. */
interface SignedBatch {
  readonly keys: Folded<SealKeys>;
  readonly deeds: readonly SealedDeed[];
}

/** At most this many deeds or bytes in one append (architecture, step 5). */
const BATCH_MAX_DEEDS = 256;
const BATCH_MAX_BYTES = 512 * 1024;
/** A conflict means that another sealer wrote first: read the tail again and go on from there. */
const MAX_CONFLICTS = 8;

/** No key is valid now. Outcomes stay recorded and unsealed until one is (ruling 21). */
export class NoActiveSealKey extends ForeseenFault {
  override readonly name = 'NoActiveSealKey';
  constructor() {
    super('no seal key is active: outcomes are recorded and wait. Make one with `npm run ags -- seal-keys rotate`.');
  }
}

/** What events ask of one organization's ledger. */
export interface SealWork {
  /** The deeds it does not hold yet, in order. */
  readonly requests: SealRequest[];
  /** What kept the event after them from being read. Nothing of the organization that comes later is in `requests`. */
  fault: Error | null;
}

export interface SealerParts {
  readonly store: EventStore;
  readonly streams: FoldedStreams;
  readonly keyRing: SealKeyRing;
  readonly heads: SealedHeads;
  readonly clock: Clock;
  readonly bus: Bus;
}

/** Seals what the log asks for, in its order. Feed it `$all`; it can be fed the same events again at any time. */
export class Sealer {
  private readonly actions = new ActionsInFlight();
  private readonly tails = new Map<OrgId, LedgerTail>();
  /** The key of the last deeds that were signed. */
  private signingKey: SigningKey | null = null;
  private readonly luck = new Luck();

  constructor(private readonly parts: SealerParts) {}

  /**
   * Whose ledgers are shorter than they were, and whose have grown: one question for all. Nobody need wait for it, nor for
   * the next: whoever seals reads where a ledger ends and compares for itself.
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
      const batch = await this.signBatch(tail, requests.slice(next, next + most));
      try {
        await this.append(org, tail, batch);
        [conflicts, most] = [0, BATCH_MAX_DEEDS];
      } catch (error) {
        this.tails.delete(org);
        // Bodies are counted, and events escape what is in them: the worst of texts may be twice as long.
        if (error instanceof AppendTooLarge && batch.deeds.length > 1) {
          most = Math.ceil(batch.deeds.length / 2);
          continue;
        }
        const isMoved = error instanceof RevisionConflict || error instanceof RequirementMoved;
        if (!isMoved || (conflicts += 1) > MAX_CONFLICTS) throw error;
        // Asked again, or the next batch would be signed under the keys that have moved.
        if (error instanceof RequirementMoved) await this.parts.streams.load(streamRef(sealKeyDecider, ONLY_STREAM));
      }
    }
  }

  /**
   * The deed of what departs, to go into the log with it: one commit where two would follow each other. Null where it has
   * to be sealed after it, as ever: where something must be read, waited for or sealed first, and where several are due.
   * @param isSealable not for an organization that is parked
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
    const keys = this.parts.streams.known(streamRef(sealKeyDecider, ONLY_STREAM));
    if (!tail || !keys || keys.revision === 'no_stream') return null;
    const seal = this.nextSealAfter(tail, keys.state, timestampOf(this.parts.clock.nowMs()));
    const { signingKey } = this;
    if (!seal || seal.key.kid !== signingKey?.publicKey.kid) return null;
    const deed = sealComposedSync(composeDeed(request, tail, seal.issuedAt, seal.key.kid), signingKey);
    return {
      appends: [appendOf(org, tail, [deed])],
      requires: standing(keys),
      ended: (end) => {
        this.luck.had(end);
        // Whoever waits for the deed does not wait for the file; what cannot be written there is said in the log.
        if (end === 'written') void this.parts.heads.remember(this.sealed(org, [deed]));
        else if (end === 'unclear') this.tails.delete(org);
      },
    };
  }

  /**
   * Nothing is wrong with the end of the ledger.
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

  /** The next deeds after a tail, as many as one append holds. */
  private async signBatch(tail: LedgerTail, requests: readonly SealRequest[]): Promise<SignedBatch> {
    // Read before the keys are: a rotation that this answer does not know of yet retires its key a minute after it at the
    // earliest, however long this process stands still before it signs (INV-06).
    const now = timestampOf(this.parts.clock.nowMs());
    const ref = streamRef(sealKeyDecider, ONLY_STREAM);
    const sign = async (keys: Folded<SealKeys>): Promise<SignedBatch> => {
      return { keys, deeds: await this.signUnder(keys.state, now, tail, requests) };
    };
    const { streams } = this.parts;
    if (streams.canRequire) {
      // The append requires that the keys are still these. Where they give no signature, others may.
      const known = streams.known(ref);
      const signed = known && (await sign(known).catch(() => null));
      return signed ?? sign(await streams.load(ref));
    }
    // Signed while the store is asked, under the keys as they were; it counts only where they still are the same.
    const [current, signed] = await Promise.allSettled([streams.load(ref), streams.remembered(ref).then(sign)]);
    if (current.status === 'rejected') throw current.reason;
    const isCurrent = signed.status === 'fulfilled' && signed.value.keys.revision === current.value.revision;
    return isCurrent ? signed.value : sign(current.value);
  }

  private async signUnder(
    keys: SealKeys,
    now: Timestamp,
    tail: LedgerTail,
    requests: readonly SealRequest[],
  ): Promise<readonly SealedDeed[]> {
    const seal = this.nextSealAfter(tail, keys, now);
    if (!seal) throw new NoActiveSealKey();
    const { key, issuedAt } = seal;
    const signingKey = await this.parts.keyRing.open(key.kid);
    this.signingKey = signingKey;
    const composed: ComposedDeed[] = [];
    let bytes = 0;
    let previous: ChainEnd = tail;
    for (const request of requests) {
      const deed = composeDeed(request, previous, issuedAt, signingKey.publicKey.kid);
      bytes += deed.body.byteLength;
      if (composed.length > 0 && bytes > BATCH_MAX_BYTES) break;
      composed.push(deed);
      previous = { seq: previous.seq + 1, bodyHash: deed.bodyHash };
    }
    // A thread of the pool must wake up first, which takes longer than one signature.
    if (composed.length === 1) return composed.map((deed) => sealComposedSync(deed, signingKey));
    // None is begun before all are composed: a deed that cannot be would leave signatures behind that nobody waits for.
    return Promise.all(composed.map((deed) => sealComposed(deed, signingKey)));
  }

  /** A clock that goes back cannot put a deed before the one it follows (ruling 22). */
  private nextSealAfter({ issuedAt }: LedgerTail, keys: SealKeys, now: Timestamp): NextSeal | null {
    return nextSeal(keys, issuedAt !== null && issuedAt > now ? issuedAt : now);
  }

  private async append(org: OrgId, tail: LedgerTail, { keys, deeds }: SignedBatch): Promise<void> {
    const append = appendOf(org, tail, deeds);
    await this.parts.store.append(this.parts.streams.canRequire ? { ...append, requires: standing(keys) } : append);
    // The next deeds do not wait for the file; what cannot be written there is said in the log.
    void this.parts.heads.remember(this.sealed(org, deeds));
  }

  /** These deeds stand in the log now. @returns where their ledger ends */
  private sealed(org: OrgId, deeds: readonly SealedDeed[]): SealedHead {
    const last = deeds[deeds.length - 1] as SealedDeed;
    const { seq, body_hash: bodyHash, issued_at: issuedAt } = last.event.data;
    this.tails.set(org, { seq, bodyHash, issuedAt, sealedUpTo: last.request.position });
    for (const { event } of deeds) {
      if (event.data.action) this.parts.bus.publish(actionChannel(event.data.action), 'sealed');
    }
    return { org, seq, bodyHash };
  }
}

const LONGEST_PAUSE = 255;

/**
 * Where other processes write as well, a deed is often signed for a place in the log that is taken by then. After each time
 * that it was left out twice as many calls depart before the next is tried.
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

/** That nothing is sealed under keys that have changed meanwhile. */
const standing = ({ stream, revision }: Folded<SealKeys>): ReadonlyMap<string, number> =>
  // Without a stream there is no key, and nothing is signed.
  new Map(revision === 'no_stream' ? [] : [[stream, revision]]);

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
  const { org, deed, issued_at: now, body_hash: bodyHash } = event.data;
  const caused = { org, actor: SYSTEM, requestId: null, commandId: request.source.event_id, correlation: deed, now };
  const metadata = { source: request.source, ...eventMetadata(caused) };
  return encodeEventAs(uuidOfHash(bodyHash.slice('sha256:'.length)), event, metadata);
};
