import { isDeepStrictEqual } from 'node:util';
import {
  digestOf,
  FIRST_DEED_VERSION,
  isDigest,
  isDeedCoseSigned,
  parseDeedBody,
  parsePublicKeyText,
  sealFault,
  type VerifiedPublicKey,
} from '#libs/crypto';
import {
  categoryOf,
  decodeEvent,
  eventIdOf,
  evolveStrictly,
  idInStream,
  ONLY_STREAM,
  START,
  streamRef,
  uuidOfHash,
  type EventEnvelope,
  type EventStore,
  type OrgId,
  type RecordedEvent,
  type Timestamp,
} from '../kernel/index.js';
import { doesFollow, type Action, type ActionEvent, type PayloadName } from '../gate/index.js';
import type {
  AuditedPayload,
  AuditFault,
  AuditFaultCode,
  AuditPlace,
  AuditVerdict,
  ComparedPayload,
} from './audit-verdict.js';
import { type Awaited, AuditedLedger } from './audited-ledger.js';
import { AuditedPayloads } from './audited-payloads.js';
import type { LedgerEvent } from './deed.events.js';
import { deedBodyOf, deedEvent, deedMetadata } from './compose-deed.js';
import { revocationAct } from './revocation.js';
import type { SealKeyEvent } from './seal-key.events.js';
import { SEAL_KEYS_STREAM, sealKeyDecider, type SealKeys } from './seal-key.decider.js';
import { ActionsInFlight, askedByAct, foldAction, placeOf, sealRequestOf } from './seal-source.js';

const AMENDED: ActionEvent['type'] = 'WitnessAmended';
const SEAL_KEYS = streamRef(sealKeyDecider, ONLY_STREAM);
const FAULTS_KEPT = 100;
/** Some 3 KB each. With more, the oldest is dropped, and its stream is read again when that action continues. */
const IN_FLIGHT_MAX = 100_000;

/**
 * Replays a log and derives from it, event by event, every deed that must exist, with the sealer's own fold but none of
 * its stored state. The caller passes every event in order to {@link step}, before each the events that it must {@link
 * recall}, and the results of comparing the payloads that events name. The verdict proves that ledgers and payloads say
 * what the log says. It cannot show that nobody has rewritten all of them: pins, heads and bundles that others hold
 * show that.
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
  private readonly payloads = new AuditedPayloads((code, place, payload) =>
    this.fault(code, place.org, place, payload),
  );
  private position = START;

  /**
   * @param only the organization whose ledger is compared; null for all
   * @param isNextPosition as {@link EventStore.isNext}: shows a missing event that no stream and no deed shows
   * @param inFlightMax how many unfinished actions are kept in memory
   */
  constructor(
    private readonly only: OrgId | null = null,
    private readonly isNextPosition: EventStore['isNext'] = () => true,
    inFlightMax = IN_FLIGHT_MAX,
  ) {
    this.actions = new ActionsInFlight(inFlightMax);
  }

  /**
   * Whether the earlier events of this one's stream must be recalled first, because its action is over or was dropped
   * from memory.
   */
  mustRecall(recorded: RecordedEvent): boolean {
    const { stream, revision, type } = recorded;
    if (revision === 0 || categoryOf(stream) !== 'action') return false;
    // An amendment comes after its action is over, when the action is no longer in memory.
    if (!this.actions.hasForgotten && type !== AMENDED) return false;
    return this.actions.before(recorded) === null && this.isCompared(recorded);
  }

  /** @param earlier the earlier events of the stream of the event that is stepped next */
  recall(earlier: readonly RecordedEvent[]): void {
    const last = earlier.at(-1);
    const action = actionAfter(earlier);
    if (last && action) this.actions.recall(last, action);
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
      // The event is reported, whatever it is, and the audit continues after it.
      this.fault('event_unreadable', null, recorded);
    }
  }

  /**
   * The payloads that events have named since the last call. A caller that can read payloads passes the results to
   * {@link compared} before it steps the next event.
   */
  takeNamed(): readonly AuditedPayload[] {
    return this.payloads.take();
  }

  /**
   * See {@link AuditedPayloads.passed}. Call it before {@link compared} if a payload of the organization is missing.
   */
  retentionPassed(org: OrgId, revision: number): void {
    this.payloads.passed(org, revision);
  }

  /** @param results in the order of the payloads; null for a payload that is as it was written */
  compared(payloads: readonly AuditedPayload[], results: readonly ComparedPayload[]): void {
    this.payloads.compared(payloads, results);
  }

  private judge(envelope: EventEnvelope): void {
    const { recorded, metadata } = envelope;
    const isOfLedger = categoryOf(recorded.stream) === 'ledger';
    // A deed belongs to the ledger whose stream holds it, whatever its metadata say.
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
    this.payloads.end();
    const waiting = [...this.ledgers.values()].flatMap(({ awaited }) => awaited.filter(isAsked));
    const since = waiting.map(({ envelope }) => envelope.metadata.at).sort();
    return {
      events: this.events,
      deeds: this.deeds,
      payloads: this.payloads.count,
      payloadsRemoved: this.payloads.removed,
      unsealed: waiting.length,
      unsealedSince: since[0] ?? null,
      faultCount: this.faultCount,
      faults: this.faults,
    };
  }

  private isNext({ stream, revision, position }: RecordedEvent): boolean {
    const before = this.revisions.get(stream) ?? -1;
    this.revisions.set(stream, revision);
    const isAtNext = this.isNextPosition(this.position, position);
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

  /**
   * Whether the service would never write this event there. Only for streams of actions: in other streams people decide
   * what follows what.
   */
  private isForeign(envelope: EventEnvelope): boolean {
    const { recorded, metadata, event } = envelope as EventEnvelope<ActionEvent>;
    if (categoryOf(recorded.stream) !== 'action') return false;
    if (event.data.action !== idInStream(recorded.stream)) return true;
    if (event.type === 'ActionSubmitted' && event.data.org !== metadata.org) return true;
    if (this.only !== null && metadata.org !== this.only) return false;
    const before = this.actions.before(recorded);
    // An action that is not in memory is over, because amended ones were recalled.
    if (before === null) return event.type !== 'LateReport';
    return !doesFollow(before, event) || ('submission' in before && before.submission.org !== metadata.org);
  }

  private onFact(org: OrgId, envelope: EventEnvelope): void {
    const isAction = categoryOf(envelope.recorded.stream) === 'action';
    if (isAction) this.payloads.onEvent(org, envelope as EventEnvelope<ActionEvent>);
    const request = sealRequestOf(envelope, isAction ? this.actions.after(envelope) : null);
    if (request) this.ledgerOf(org).awaited.push({ envelope, sections: () => request });
  }

  private onSealKey(envelope: EventEnvelope<SealKeyEvent>): void {
    const { event, metadata } = envelope;
    this.keys = evolveStrictly(SEAL_KEYS, this.keys, event);
    if (event.type === 'SealKeyRetired') this.onRetired(event.data);
    if (event.type !== 'SealKeyRevoked') return;
    const { kid, reason } = event.data;
    for (const ledger of this.ledgers.values()) {
      // Evaluated when the deed's turn comes: only then are all earlier events sealed, and the last deed under the key
      // known.
      const sections: Awaited['sections'] = () => {
        const last = ledger.lastDeedByKey.get(kid);
        return last ? askedByAct(revocationAct(kid, reason, last), metadata) : null;
      };
      ledger.awaited.push({ envelope, sections });
    }
  }

  /**
   * A verifier judges every deed by the final validity window of its key, so no deed under a key may be later than the
   * window's end. Reports the last deed that is.
   */
  private onRetired({ kid, retired_at: retiredAt }: { readonly kid: string; readonly retired_at: Timestamp }): void {
    for (const [org, { lastDeedByKey }] of this.ledgers) {
      const last = lastDeedByKey.get(kid);
      if (last && last.issued_at >= retiredAt) this.fault('key_not_valid', org, last);
    }
  }

  private onDeed(org: OrgId, envelope: EventEnvelope<LedgerEvent>): void {
    const { data } = envelope.event;
    const ledger = this.ledgerOf(org);
    this.deeds += 1;
    const asked = this.takeAwaited(ledger, envelope);
    if (!asked) this.fault('deed_unasked', org, envelope.recorded);
    else if (!this.isSame(org, ledger, asked, envelope)) this.fault('deed_differs', org, envelope.recorded);
    const sealed = this.sealFaultOf(data);
    if (sealed !== null) this.fault(sealed, org, envelope.recorded);
    else if (!this.mayFollow(ledger, data)) this.fault('key_not_valid', org, envelope.recorded);
    ledger.previous = { seq: data.seq, bodyHash: data.body_hash, issuedAt: data.issued_at };
    const { seq, body_hash, issued_at } = data;
    const { stream, revision } = envelope.recorded;
    ledger.lastDeedByKey.set(data.kid, { seq, body_hash, issued_at, stream, revision });
    this.payloads.onDeed(org, revision, data.action);
  }

  /**
   * Takes the awaited deed of the event that this deed names. Those awaited before it were skipped and are reported.
   */
  private takeAwaited({ awaited }: AuditedLedger, { metadata }: EventEnvelope): Awaited | null {
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
      const due = asked.sections();
      if (!due) return false;
      // A process of a version that sealed plain digests may have sealed it, also events that have salts.
      const isFirst = parseDeedBody(Buffer.from(data.body)).v === FIRST_DEED_VERSION;
      const sections = isFirst ? due.firstSections() : due.sections;
      const request = { org, source, position: asked.envelope.recorded.position, ...due, sections };
      const body = deedBodyOf(request, previous, issuedAt, kid);
      const expected = deedEvent(request, previous, body, {
        issuedAt,
        seal: { kid, bodyHash: digestOf(body), signature, coseSignature },
      });
      const metadata = deedMetadata(expected, { ...source });
      if (deed.event.type !== expected.type) return false;
      return isDeepStrictEqual(expected.data, data) && isDeepStrictEqual(deed.metadata, metadata);
    } catch {
      // The stored members give no valid deed.
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
   * Judges the key as an offline check does, with one difference: a key that was revoked later was valid when it
   * sealed, and the log shows when it was revoked.
   */
  private mayFollow({ previous }: AuditedLedger, { kid, issued_at: issuedAt }: LedgerEvent['data']): boolean {
    const key = this.keys.find((one) => one.kid === kid);
    if (!key?.activatedAt || issuedAt < key.activatedAt) return false;
    if (key.revokedAt !== null || (key.retiredAt !== null && issuedAt >= key.retiredAt)) return false;
    return previous.issuedAt === null || previous.issuedAt <= issuedAt;
  }

  /** Parses and judges each public key only once. */
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

/** Null if one of the events is missing or unreadable; that event was reported when it was stepped. */
const actionAfter = (events: readonly RecordedEvent[]): Action | null => {
  try {
    return foldAction(events.map((recorded) => decodeEvent(recorded)));
  } catch {
    return null;
  }
};

/** Whether the event asks for a deed after all. If that cannot be told, it counts as asking for one. */
const isAsked = (one: Awaited): boolean => {
  try {
    return one.sections() !== null;
  } catch {
    return true;
  }
};

/**
 * Whether the text is in the one form that the service writes. The id of a deed does not cover the text around its
 * body: an additional space, or a repeated member, would leave the id the same.
 */
const isAsWritten = ({ data, metadata }: RecordedEvent): boolean =>
  [data, metadata].every((text) => JSON.stringify(JSON.parse(text)) === text);

/** The id that follows from the stored bytes: for a deed from its body, for every other event from all of it. */
const expectedId = ({ recorded }: EventEnvelope): string => {
  if (categoryOf(recorded.stream) !== 'ledger') return eventIdOf(recorded);
  const { body } = JSON.parse(recorded.data) as { body?: unknown };
  return uuidOfHash(digestOf(Buffer.from(String(body))).slice('sha256:'.length));
};
