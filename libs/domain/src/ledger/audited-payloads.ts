import { isDigest } from '#libs/crypto';
import { payloadsNamedBy, type ActionEvent, type PayloadName } from '../gate/index.js';
import { idInStream, parseId, type EventEnvelope, type OrgId } from '../kernel/index.js';
import type { AuditedPayload, AuditFaultCode, AuditPlace, ComparedPayload } from './audit-verdict.js';

/** Events that may come after retention has already passed the deed of their action. */
const LATE_EVENT_TYPES: ReadonlySet<ActionEvent['type']> = new Set(['LateReport', 'WitnessAmended']);

export type PayloadFaultFound = (
  code: Extract<AuditFaultCode, `payload_${string}`>,
  place: AuditPlace,
  payload: PayloadName,
) => void;

/** The state of one organization's ledger at the current place of the replay. */
interface RetainedLedger {
  /** The revision of the last deed that retention has passed; -1 for none. */
  passedUpTo: number;
  /** The revision of the last deed in the replay. */
  revision: number;
  /**
   * By action, payloads that are not stored; the replay has not yet reached the action's deed, so it is unknown whether
   * retention has passed it.
   */
  readonly missing: Map<string, AuditedPayload[]>;
}

/**
 * The payloads that a replayed log names. A payload that is not stored is no fault if retention has passed the deed of
 * its action. That deed comes later in the log than the event that names the payload, so the payload is held until
 * then. Only payloads of actions in flight at that place of the log are held.
 */
export class AuditedPayloads {
  count = 0;
  removed = 0;
  private named: AuditedPayload[] = [];
  private readonly ledgers = new Map<OrgId, RetainedLedger>();
  /** Revisions of the deeds of actions, by action, that were replayed since the last call of `take` but one. */
  private sealed = new Map<string, number>();
  private sealing = new Map<string, number>();

  constructor(private readonly found: PayloadFaultFound) {}

  /** For an event of an action's stream. */
  onEvent(org: OrgId, { event, recorded: { stream, revision } }: EventEnvelope<ActionEvent>): void {
    const place = { org, stream, revision };
    const owner = idInStream(stream);
    for (const name of payloadsNamedBy(event) ?? []) {
      // Nothing is stored under a name of another form, and the database may not even accept the query.
      if (!parseId('act', owner) || !isDigest(name.digest)) this.found('payload_missing', place, name);
      else {
        const isLate = LATE_EVENT_TYPES.has(event.type);
        this.named.push({ named: { ...name, owner }, place, ...(isLate ? { isLate } : {}) });
      }
    }
  }

  onDeed(org: OrgId, revision: number, action: string | null): void {
    if (action !== null) this.sealing.set(action, revision);
    const ledger = this.ledgerOf(org);
    ledger.revision = revision;
    if (action !== null && revision <= ledger.passedUpTo) {
      this.removed += ledger.missing.get(action)?.length ?? 0;
      ledger.missing.delete(action);
    }
    // Retention has not passed any later deed, so payloads that are still held are missing.
    if (revision >= ledger.passedUpTo) this.giveUp(ledger);
  }

  take(): readonly AuditedPayload[] {
    const named = this.named;
    this.named = [];
    this.sealed = this.sealing;
    this.sealing = new Map();
    return named;
  }

  /** @param revision of the last deed that retention has passed, read after the payloads were compared */
  passed(org: OrgId, revision: number): void {
    this.ledgerOf(org).passedUpTo = revision;
  }

  compared(payloads: readonly AuditedPayload[], results: readonly ComparedPayload[]): void {
    this.count += payloads.length;
    for (const [index, payload] of payloads.entries()) {
      const result = results[index] ?? null;
      if (result === 'removed') this.removed += 1;
      else if (result === 'missing') this.onMissing(payload);
      else if (result !== null) this.found(`payload_${result}`, payload.place, payload.named);
    }
  }

  /** The log has ended: retention has not passed an action that has no deed. */
  end(): void {
    for (const ledger of this.ledgers.values()) this.giveUp(ledger);
  }

  private onMissing(payload: AuditedPayload): void {
    const { named, place, isLate } = payload;
    const ledger = this.ledgerOf(place.org as OrgId);
    const sealedAt = this.sealing.get(named.owner) ?? this.sealed.get(named.owner);
    if (sealedAt !== undefined && sealedAt <= ledger.passedUpTo) this.removed += 1;
    else if (isLate || sealedAt !== undefined || ledger.revision >= ledger.passedUpTo) {
      this.found('payload_missing', place, named);
    } else {
      const held = ledger.missing.get(named.owner);
      if (held) held.push(payload);
      else ledger.missing.set(named.owner, [payload]);
    }
  }

  private giveUp({ missing }: RetainedLedger): void {
    for (const held of missing.values()) {
      for (const { named, place } of held) this.found('payload_missing', place, named);
    }
    missing.clear();
  }

  private ledgerOf(org: OrgId): RetainedLedger {
    const known = this.ledgers.get(org);
    if (known) return known;
    const ledger: RetainedLedger = { passedUpTo: -1, revision: -1, missing: new Map() };
    this.ledgers.set(org, ledger);
    return ledger;
  }
}
