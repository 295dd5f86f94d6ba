import { isDeepStrictEqual } from 'node:util';
import {
  digestOf,
  isDigest,
  isDeedCoseSigned,
  parsePublicKeyText,
  sealFault,
  type Digest,
  type VerifiedPublicKey,
} from '#libs/crypto';
import {
  categoryOf,
  decodeEvent,
  eventIdOf,
  evolveStrictly,
  idInStream,
  ONLY_STREAM,
  parseId,
  START,
  streamRef,
  uuidOfHash,
  type Actor,
  type EventEnvelope,
  type OrgId,
  type RecordedEvent,
  type Timestamp,
} from '../kernel/index.js';
import {
  doesFollow,
  payloadNamedBy,
  type Action,
  type ActionEvent,
  type PayloadFault,
  type PayloadName,
} from '../gate/index.js';
import type { AuditedPayload, AuditFault, AuditFaultCode, AuditPlace, AuditVerdict } from './audit-verdict.js';
import { adminSections, type DeedSections } from './deed-sections.js';
import type { LedgerEvent } from './deed.events.js';
import { deedBodyOf, deedEvent, deedMetadata } from './compose-deed.js';
import { revocationAct } from './revocation.js';
import type { SealKeyEvent } from './seal-key.events.js';
import { SEAL_KEYS_STREAM, sealKeyDecider, type SealKeys } from './seal-key.decider.js';
import { ActionsInFlight, foldAction, placeOf, sealRequestOf } from './seal-source.js';

const SEAL_KEYS = streamRef(sealKeyDecider, ONLY_STREAM);
const FAULTS_KEPT = 100;
/** Some 3 KB each. Of more, the oldest is forgotten, and its stream is read again when it goes on. */
const IN_FLIGHT_MAX = 100_000;

/** A deed that an event asks for. Null sections: the event asks this organization for none after all. */
interface Awaited {
  readonly envelope: EventEnvelope;
  sections(): DeedSections | null;
}

/** The last deed of a ledger under a key, as its event says, and where that event stands. */
type LastUnder = Pick<LedgerEvent['data'], 'seq' | 'body_hash' | 'issued_at'> &
  Pick<RecordedEvent, 'stream' | 'revision'>;

/** One organization's ledger as far as the log was read. */
class AuditedLedger {
  readonly awaited: Awaited[] = [];
  readonly lastUnder = new Map<string, LastUnder>();
  previous: { seq: number; bodyHash: Digest | null; issuedAt: Timestamp | null } = {
    seq: 0,
    bodyHash: null,
    issuedAt: null,
  };
}

/**
 * Replays a log and derives from it, event by event, every deed that there must be: the sealer's own fold, and none of its
 * memory. Feed it every event in order, each behind what it must {@link recall}, tell it of the payloads that they name, and
 * ask for the verdict. It proves that ledgers and payloads say what the log says; that nobody rewrote them all is what pins,
 * heads and bundles that others hold are for.
 */
export class LogAudit {
  private readonly actions: ActionsInFlight;
  private readonly ledgers = new Map<OrgId, AuditedLedger>();
  private keys: SealKeys = SEAL_KEYS.initialState();
  private readonly verifiedKeys = new Map<string, VerifiedPublicKey>();
  private readonly revisions = new Map<string, number>();
  private readonly faults: AuditFault[] = [];
  private faultCount = 0;
  private events = 0;
  private deeds = 0;
  private payloads = 0;
  private named: AuditedPayload[] = [];
  private position = START;

  /**
   * @param only whose ledger is compared; null for all
   * @param isGapless whether the store gives every position out: then an event that is gone leaves a hole, also where
   *   nothing follows it in its stream and no deed tells of it
   * @param inFlightMax how many actions that are not over it keeps in mind
   */
  constructor(
    private readonly only: OrgId | null = null,
    private readonly isGapless = false,
    inFlightMax = IN_FLIGHT_MAX,
  ) {
    this.actions = new ActionsInFlight(inFlightMax);
  }

  /** Whether the events before this one in its stream are to be recalled first: its action is over, or was forgotten. */
  mustRecall(recorded: RecordedEvent): boolean {
    const { stream, revision } = recorded;
    if (!this.actions.hasForgotten || revision === 0 || categoryOf(stream) !== 'action') return false;
    return this.actions.before(recorded) === null && this.isCompared(recorded);
  }

  /** @param earlier the events of one stream before the one that is stepped next */
  recall(earlier: readonly RecordedEvent[]): void {
    const last = earlier.at(-1);
    const action = actionAfter(earlier);
    if (last && action) this.actions.remember(last, action);
  }

  step(recorded: RecordedEvent): void {
    this.events += 1;
    const isNext = this.isNext(recorded);
    if (!isNext) this.fault('event_missing', null, recorded);
    try {
      const envelope = decodeEvent(recorded);
      if (isNext && this.isForeign(envelope)) this.fault('event_unexpected', null, recorded);
      this.judge(envelope);
    } catch {
      // Whatever somebody wrote there: it is named, and the audit goes on behind it.
      this.fault('event_unreadable', null, recorded);
    }
  }

  /** The payloads that were named since the last call. Whoever can look at them tells {@link compared}. */
  takeNamed(): readonly AuditedPayload[] {
    const named = this.named;
    this.named = [];
    return named;
  }

  /** @param faults in the order of the payloads; null for one that is as it was written */
  compared(payloads: readonly AuditedPayload[], faults: readonly (PayloadFault | null)[]): void {
    this.payloads += payloads.length;
    for (const [index, { named, place }] of payloads.entries()) {
      const fault = faults[index];
      if (fault) this.fault(`payload_${fault}`, place.org, place, named);
    }
  }

  private judge(envelope: EventEnvelope): void {
    const { recorded, metadata } = envelope;
    const isOfLedger = categoryOf(recorded.stream) === 'ledger';
    // A deed is of the ledger that it stands in, whatever stands beside it.
    const org = (isOfLedger ? idInStream(recorded.stream) : metadata.org) as OrgId | null;
    if (recorded.id !== expectedId(envelope) || (isOfLedger && !isAsWritten(recorded))) {
      this.fault('event_altered', org, recorded);
    }
    if (recorded.stream === SEAL_KEYS_STREAM) return this.onSealKey(envelope as EventEnvelope<SealKeyEvent>);
    if (org === null || (this.only !== null && org !== this.only)) return;
    if (isOfLedger) this.onDeed(org, envelope as EventEnvelope<LedgerEvent>);
    else this.onFact(org, envelope);
  }

  verdict(): AuditVerdict {
    const waiting = [...this.ledgers.values()].flatMap(({ awaited }) => awaited.filter(isAsked));
    const since = waiting.map(({ envelope }) => envelope.metadata.at).sort();
    return {
      events: this.events,
      deeds: this.deeds,
      payloads: this.payloads,
      unsealed: waiting.length,
      unsealedSince: since[0] ?? null,
      faultCount: this.faultCount,
      faults: this.faults,
    };
  }

  private isNext({ stream, revision, position }: RecordedEvent): boolean {
    const before = this.revisions.get(stream) ?? -1;
    this.revisions.set(stream, revision);
    const isAtNext = !this.isGapless || position === this.position + 1n;
    this.position = position;
    return isAtNext && revision === before + 1;
  }

  private isCompared(recorded: RecordedEvent): boolean {
    if (this.only === null) return true;
    try {
      return decodeEvent(recorded).metadata.org === this.only;
    } catch {
      return false;
    }
  }

  /** Of an action alone: what else may follow what is a matter of people, who may say it again. */
  private isForeign(envelope: EventEnvelope): boolean {
    const { recorded, metadata, event } = envelope as EventEnvelope<ActionEvent>;
    if (categoryOf(recorded.stream) !== 'action') return false;
    if (event.data.action !== idInStream(recorded.stream)) return true;
    if (event.type === 'ActionSubmitted' && event.data.org !== metadata.org) return true;
    if (this.only !== null && metadata.org !== this.only) return false;
    const before = this.actions.before(recorded);
    // One that is not in flight any more is over.
    if (before === null) return event.type !== 'LateReport';
    return !doesFollow(before, event) || ('submission' in before && before.submission.org !== metadata.org);
  }

  private onFact(org: OrgId, envelope: EventEnvelope): void {
    const isAction = categoryOf(envelope.recorded.stream) === 'action';
    if (isAction) this.onNamed(org, envelope as EventEnvelope<ActionEvent>);
    const request = sealRequestOf(envelope, isAction ? this.actions.after(envelope) : null);
    if (request) this.ledgerOf(org).awaited.push({ envelope, sections: () => request.sections });
  }

  private onNamed(org: OrgId, { event, recorded: { stream, revision } }: EventEnvelope<ActionEvent>): void {
    const name = payloadNamedBy(event) as PayloadName | null | undefined;
    if (!name) return;
    const place = { org, stream, revision };
    const owner = idInStream(stream);
    // Under another name nothing is ever stored, and a database may not even take the question.
    if (parseId('act', owner) && isDigest(name.digest)) this.named.push({ named: { ...name, owner }, place });
    else this.fault('payload_missing', org, place, name);
  }

  private onSealKey(envelope: EventEnvelope<SealKeyEvent>): void {
    const { event, metadata } = envelope;
    this.keys = evolveStrictly(SEAL_KEYS, this.keys, event);
    if (event.type === 'SealKeyRetired') this.onRetired(event.data);
    if (event.type !== 'SealKeyRevoked') return;
    const { kid, reason } = event.data;
    const actor: Actor = { type: metadata.actor.type, id: metadata.actor.id };
    for (const ledger of this.ledgers.values()) {
      // What was recorded before is sealed before, so only when its turn comes is it known which deed is the last.
      const sections = (): DeedSections | null => {
        const last = ledger.lastUnder.get(kid);
        return last ? adminSections(revocationAct(kid, reason, last), actor) : null;
      };
      ledger.awaited.push({ envelope, sections });
    }
  }

  /** A verifier judges every deed by the window as it ends up: deeds under a key cannot outlive it. Names the last of them. */
  private onRetired({ kid, retired_at: retiredAt }: { readonly kid: string; readonly retired_at: Timestamp }): void {
    for (const [org, { lastUnder }] of this.ledgers) {
      const last = lastUnder.get(kid);
      if (last && last.issued_at >= retiredAt) this.fault('key_not_valid', org, last);
    }
  }

  private onDeed(org: OrgId, envelope: EventEnvelope<LedgerEvent>): void {
    const { data } = envelope.event;
    const ledger = this.ledgerOf(org);
    this.deeds += 1;
    const asked = this.takeAsked(ledger, envelope);
    if (!asked) this.fault('deed_unasked', org, envelope.recorded);
    else if (!this.isSame(org, ledger, asked, envelope)) this.fault('deed_differs', org, envelope.recorded);
    const sealed = this.sealFaultOf(data);
    if (sealed !== null) this.fault(sealed, org, envelope.recorded);
    else if (!this.mayStandThere(ledger, data)) this.fault('key_not_valid', org, envelope.recorded);
    ledger.previous = { seq: data.seq, bodyHash: data.body_hash, issuedAt: data.issued_at };
    const { seq, body_hash, issued_at } = data;
    const { stream, revision } = envelope.recorded;
    ledger.lastUnder.set(data.kid, { seq, body_hash, issued_at, stream, revision });
  }

  /** The awaited deed of the event that this one names; those before it were passed by. */
  private takeAsked({ awaited }: AuditedLedger, { metadata }: EventEnvelope): Awaited | null {
    const at = awaited.findIndex(({ envelope }) => envelope.recorded.id === metadata.source?.event_id);
    if (at < 0) return null;
    const passed = awaited.splice(0, at + 1);
    const asked = passed.pop() as Awaited;
    for (const one of passed) {
      const { recorded, metadata: about } = one.envelope;
      if (isAsked(one)) this.fault('deed_missing', about.org as OrgId | null, recorded);
    }
    return asked;
  }

  private isSame(org: OrgId, { previous }: AuditedLedger, asked: Awaited, deed: EventEnvelope<LedgerEvent>): boolean {
    const { data } = deed.event;
    const { kid, signature, cose_signature: coseSignature, issued_at: issuedAt } = data;
    const source = placeOf(asked.envelope);
    try {
      const sections = asked.sections();
      if (!sections) return false;
      const request = { org, source, position: asked.envelope.recorded.position, sections };
      const body = deedBodyOf(request, previous, issuedAt, kid);
      const expected = deedEvent(request, previous, body, {
        issuedAt,
        seal: { kid, bodyHash: digestOf(body), signature, coseSignature },
      });
      const metadata = deedMetadata(expected, { ...source });
      if (deed.event.type !== expected.type) return false;
      return isDeepStrictEqual(expected.data, data) && isDeepStrictEqual(deed.metadata, metadata);
    } catch {
      // What was taken from the stored deed is none of a deed.
      return false;
    }
  }

  private sealFaultOf(data: LedgerEvent['data']): 'bad_seal' | 'bad_cose_signature' | null {
    const { kid, body_hash: bodyHash, signature, cose_signature: coseSignature } = data;
    const key = this.keys.find((one) => one.kid === kid);
    if (!key) return 'bad_seal';
    try {
      const publicKey = this.verified(key.publicKey);
      const body = Buffer.from(data.body);
      if (sealFault(body, { bodyHash, kid, signature }, publicKey) !== null) return 'bad_seal';
      const cose = { kid, body, coseSignature: String(coseSignature) };
      return isDeedCoseSigned(cose, publicKey) ? null : 'bad_cose_signature';
    } catch {
      return 'bad_seal';
    }
  }

  /**
   * As an offline check judges it, with one difference: a key that was revoked later was good when it sealed, and the log
   * says when that was.
   */
  private mayStandThere({ previous }: AuditedLedger, { kid, issued_at: issuedAt }: LedgerEvent['data']): boolean {
    const key = this.keys.find((one) => one.kid === kid);
    if (!key?.activatedAt || issuedAt < key.activatedAt) return false;
    if (key.revokedAt !== null || (key.retiredAt !== null && issuedAt >= key.retiredAt)) return false;
    return previous.issuedAt === null || previous.issuedAt <= issuedAt;
  }

  /** A public key is judged once. */
  private verified(publicKey: string): VerifiedPublicKey {
    const known = this.verifiedKeys.get(publicKey);
    if (known) return known;
    const verified = parsePublicKeyText(publicKey);
    this.verifiedKeys.set(publicKey, verified);
    return verified;
  }

  private ledgerOf(org: OrgId): AuditedLedger {
    const known = this.ledgers.get(org);
    if (known) return known;
    const ledger = new AuditedLedger();
    this.ledgers.set(org, ledger);
    return ledger;
  }

  private fault(
    code: AuditFaultCode,
    org: OrgId | null,
    { stream, revision }: Omit<AuditPlace, 'org'>,
    payload: PayloadName | null = null,
  ): void {
    this.faultCount += 1;
    if (this.faults.length >= FAULTS_KEPT) return;
    const digest = payload && isDigest(payload.digest) ? payload.digest : null;
    this.faults.push({ code, org, stream, revision, kind: payload?.kind ?? null, digest });
  }
}

/** Null where one of its events is missing or cannot be read: that one was named when it was stepped. */
const actionAfter = (events: readonly RecordedEvent[]): Action | null => {
  try {
    return foldAction(events.map((recorded) => decodeEvent(recorded)));
  } catch {
    return null;
  }
};

/** Whether it asks for a deed after all; what cannot be told in a deed was asked for all the same. */
const isAsked = (one: Awaited): boolean => {
  try {
    return one.sections() !== null;
  } catch {
    return true;
  }
};

/** The id of a deed says nothing of the text around its body: a space more, or a member twice, gives the same deed. */
const isAsWritten = ({ data, metadata }: RecordedEvent): boolean =>
  [data, metadata].every((text) => JSON.stringify(JSON.parse(text)) === text);

/** Of the bytes as they are stored: a deed's from its body, every other event's from all of it. */
const expectedId = ({ recorded }: EventEnvelope): string => {
  if (categoryOf(recorded.stream) !== 'ledger') return eventIdOf(recorded);
  const { body } = JSON.parse(recorded.data) as { body?: unknown };
  return uuidOfHash(digestOf(Buffer.from(String(body))).slice('sha256:'.length));
};
