import { isDeepStrictEqual } from 'node:util';
import {
  DeedBodyError,
  digestOf,
  parsePublicKeyText,
  sealFault,
  type Digest,
  type VerifiedPublicKey,
} from '#libs/crypto';
import {
  categoryOf,
  decodeEvent,
  eventIdOf,
  uuidOfHash,
  type EventEnvelope,
  type OrgId,
  type RecordedEvent,
  type Timestamp,
} from '../kernel/index.js';
import { adminSections, type DeedSections } from './deed-sections.js';
import type { LedgerEvent } from './deed.events.js';
import { deedBodyOf, deedEvent } from './compose-deed.js';
import { revocationAct } from './revocation.js';
import type { SealKeyEvent } from './seal-key.events.js';
import { SEAL_KEYS_STREAM } from './seal-key.decider.js';
import { ActionsInFlight, placeOf, sealRequestOf } from './seal-source.js';

/** What an audit finds. Each has a sentence in docs/cli.md. */
export type AuditFaultCode =
  /** Its id is not the one that its place and content give. */
  | 'event_altered'
  /** Its stream has no event before it. */
  | 'event_missing'
  /** It is no JSON, or of a type that this version does not know; what it asks for is not known. */
  | 'event_unreadable'
  /** An event asks for a deed, and the ledger goes on without it. */
  | 'deed_missing'
  /** No event that is left asks for it. */
  | 'deed_unasked'
  /** The log gives other bytes. */
  | 'deed_differs'
  /** Its seal does not hold under the key that the log registered. */
  | 'bad_seal';

export interface AuditFault {
  readonly code: AuditFaultCode;
  readonly org: OrgId | null;
  readonly stream: string;
  readonly revision: number;
}

export interface AuditVerdict {
  readonly events: number;
  /** Rebuilt from the log and compared. */
  readonly deeds: number;
  /** Events that ask for a deed which the ledger does not hold yet. */
  readonly unsealed: number;
  /** When the oldest of them was recorded; null without one. */
  readonly unsealedSince: Timestamp | null;
  readonly faultCount: number;
  /** The first of them. */
  readonly faults: readonly AuditFault[];
}

const FAULTS_KEPT = 100;
const IN_FLIGHT_MAX = 1_000_000;

/** A deed that an event asks for. Null sections: the event asks this organization for none after all. */
interface Awaited {
  readonly envelope: EventEnvelope;
  sections(): DeedSections | null;
}

/** One organization's ledger as far as the log was read. */
class AuditedLedger {
  readonly awaited: Awaited[] = [];
  readonly lastUnder = new Map<string, LedgerEvent['data']>();
  previous: { seq: number; bodyHash: Digest | null } = { seq: 0, bodyHash: null };
}

/**
 * Replays a log and derives from it, event by event, every deed that there must be: the sealer's own fold, and none of its
 * memory. Feed it every event in order, then ask for the verdict. It proves that the ledgers say what the log says; that
 * nobody rewrote both is what pins, heads and bundles that others hold are for.
 */
export class LogAudit {
  private readonly actions = new ActionsInFlight(IN_FLIGHT_MAX);
  private readonly ledgers = new Map<OrgId, AuditedLedger>();
  private readonly keys = new Map<string, VerifiedPublicKey>();
  private readonly revisions = new Map<string, number>();
  private readonly faults: AuditFault[] = [];
  private faultCount = 0;
  private events = 0;
  private deeds = 0;

  /** @param only whose ledger is compared; null for all */
  constructor(private readonly only: OrgId | null = null) {}

  step(recorded: RecordedEvent): void {
    this.events += 1;
    const envelope = this.readable(recorded);
    const org = (envelope?.metadata.org ?? null) as OrgId | null;
    if (!this.isNext(recorded)) this.fault('event_missing', org, recorded);
    if (!envelope) return this.fault('event_unreadable', null, recorded);
    if (recorded.id !== expectedId(envelope)) this.fault('event_altered', org, recorded);
    if (recorded.stream === SEAL_KEYS_STREAM) return this.onSealKey(envelope as EventEnvelope<SealKeyEvent>);
    if (org === null || (this.only !== null && org !== this.only)) return;
    if (categoryOf(recorded.stream) === 'ledger') this.onDeed(org, envelope as EventEnvelope<LedgerEvent>);
    else this.onFact(org, envelope);
  }

  verdict(): AuditVerdict {
    const waiting = [...this.ledgers.values()].flatMap(({ awaited }) =>
      awaited.filter((one) => one.sections() !== null),
    );
    const since = waiting.map(({ envelope }) => envelope.metadata.at).sort();
    return {
      events: this.events,
      deeds: this.deeds,
      unsealed: waiting.length,
      unsealedSince: since[0] ?? null,
      faultCount: this.faultCount,
      faults: this.faults,
    };
  }

  private readable(recorded: RecordedEvent): EventEnvelope | null {
    try {
      return decodeEvent(recorded);
    } catch {
      return null;
    }
  }

  private isNext({ stream, revision }: RecordedEvent): boolean {
    const before = this.revisions.get(stream) ?? -1;
    this.revisions.set(stream, revision);
    return revision === before + 1;
  }

  private onFact(org: OrgId, envelope: EventEnvelope): void {
    try {
      const isAction = categoryOf(envelope.recorded.stream) === 'action';
      const request = sealRequestOf(envelope, isAction ? this.actions.after(envelope) : null);
      if (request) this.ledgerOf(org).awaited.push({ envelope, sections: () => request.sections });
    } catch {
      this.fault('event_unreadable', org, envelope.recorded);
    }
  }

  private onSealKey(envelope: EventEnvelope<SealKeyEvent>): void {
    const { event } = envelope;
    if (event.type === 'SealKeyRegistered') this.keys.set(event.data.kid, parsePublicKeyText(event.data.public_key));
    if (event.type !== 'SealKeyRevoked') return;
    const { kid, reason } = event.data;
    for (const ledger of this.ledgers.values()) {
      // What was recorded before is sealed before, so only when its turn comes is it known which deed is the last.
      const sections = (): DeedSections | null => {
        const last = ledger.lastUnder.get(kid);
        return last ? adminSections(revocationAct(kid, reason, last), envelope.metadata.actor) : null;
      };
      ledger.awaited.push({ envelope, sections });
    }
  }

  private onDeed(org: OrgId, envelope: EventEnvelope<LedgerEvent>): void {
    const { data } = envelope.event;
    const ledger = this.ledgerOf(org);
    this.deeds += 1;
    const asked = this.takeAsked(ledger, envelope);
    if (!asked) this.fault('deed_unasked', org, envelope.recorded);
    else if (!this.isSame(org, ledger, asked, data)) this.fault('deed_differs', org, envelope.recorded);
    if (!this.isSealed(data)) this.fault('bad_seal', org, envelope.recorded);
    ledger.previous = { seq: data.seq, bodyHash: data.body_hash };
    ledger.lastUnder.set(data.kid, data);
  }

  /** The awaited deed of the event that this one names; those before it were passed by. */
  private takeAsked({ awaited }: AuditedLedger, { metadata }: EventEnvelope): Awaited | null {
    const at = awaited.findIndex(({ envelope }) => envelope.recorded.id === metadata.source?.event_id);
    if (at < 0) return null;
    const passed = awaited.splice(0, at + 1);
    const asked = passed.pop() as Awaited;
    for (const one of passed) {
      const { recorded, metadata: about } = one.envelope;
      if (one.sections() !== null) this.fault('deed_missing', about.org as OrgId | null, recorded);
    }
    return asked;
  }

  private isSame(org: OrgId, { previous }: AuditedLedger, asked: Awaited, data: LedgerEvent['data']): boolean {
    const sections = asked.sections();
    if (!sections) return false;
    const { position } = asked.envelope.recorded;
    const request = { org, source: placeOf(asked.envelope), position, sections };
    const { kid, signature, cose_signature: coseSignature, issued_at: issuedAt } = data;
    try {
      const body = deedBodyOf(request, previous, issuedAt, kid);
      const seal = { kid, bodyHash: digestOf(body), signature, coseSignature };
      return isDeepStrictEqual(deedEvent(request, previous, body, { issuedAt, seal }).data, data);
    } catch (error) {
      // What was taken from the stored deed is none of a deed.
      if (error instanceof DeedBodyError) return false;
      throw error;
    }
  }

  private isSealed({ kid, body, body_hash: bodyHash, signature }: LedgerEvent['data']): boolean {
    const key = this.keys.get(kid);
    return key !== undefined && sealFault(Buffer.from(body), { bodyHash, kid, signature }, key) === null;
  }

  private ledgerOf(org: OrgId): AuditedLedger {
    const known = this.ledgers.get(org);
    if (known) return known;
    const ledger = new AuditedLedger();
    this.ledgers.set(org, ledger);
    return ledger;
  }

  private fault(code: AuditFaultCode, org: OrgId | null, { stream, revision }: RecordedEvent): void {
    this.faultCount += 1;
    if (this.faults.length < FAULTS_KEPT) this.faults.push({ code, org, stream, revision });
  }
}

/** Of the bytes as they are stored: a deed's from its body, every other event's from all of it. */
const expectedId = ({ recorded }: EventEnvelope): string => {
  if (categoryOf(recorded.stream) !== 'ledger') return eventIdOf(recorded);
  const { body } = JSON.parse(recorded.data) as { body?: unknown };
  return uuidOfHash(digestOf(Buffer.from(String(body))).slice('sha256:'.length));
};
