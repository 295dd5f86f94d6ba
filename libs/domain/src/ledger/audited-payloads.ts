import { isDigest } from '#libs/crypto';
import { payloadNamedBy, type ActionEvent, type PayloadName } from '../gate/index.js';
import { idInStream, parseId, type EventEnvelope, type OrgId } from '../kernel/index.js';
import type { AuditedPayload, AuditFaultCode, AuditPlace, ComparedPayload } from './audit-verdict.js';

/** Events that may come when retention has passed the deed of their action already. */
const COME_LATE: ReadonlySet<ActionEvent['type']> = new Set(['LateReport', 'WitnessAmended']);

export type PayloadFaultFound = (
  code: Extract<AuditFaultCode, `payload_${string}`>,
  place: AuditPlace,
  payload: PayloadName,
) => void;

/** One organization's ledger, as far as retention and the log were read. */
interface RetainedLedger {
  /** Retention has passed the deeds up to this revision. */
  passedUpTo: number;
  /** Of the last deed that was stepped. */
  revision: number;
  /** Payloads that are not stored, by the action, of whose deed it is not known yet whether retention has passed it. */
  readonly missing: Map<string, AuditedPayload[]>;
}

/**
 * The payloads that a replayed log names. One that is not stored is no fault where retention has passed the deed of its
 * action, which stands later in the log than the event that names it: so it is held until that deed comes by. Only
 * actions that are in flight at that place are held.
 */
export class AuditedPayloads {
  count = 0;
  removed = 0;
  private named: AuditedPayload[] = [];
  private readonly ledgers = new Map<OrgId, RetainedLedger>();
  /** Deeds of actions by the action, stepped since payloads were taken the last time but one. */
  private sealed = new Map<string, number>();
  private sealing = new Map<string, number>();

  constructor(private readonly found: PayloadFaultFound) {}

  /** Of an event of an action's stream. */
  onEvent(org: OrgId, { event, recorded: { stream, revision } }: EventEnvelope<ActionEvent>): void {
    const name = payloadNamedBy(event) as PayloadName | null | undefined;
    if (!name) return;
    const place = { org, stream, revision };
    const owner = idInStream(stream);
    // Nothing is ever stored under a name of another form, and a database may not even take the question.
    if (!parseId('act', owner) || !isDigest(name.digest)) return this.found('payload_missing', place, name);
    this.named.push({ named: { ...name, owner }, place, ...(COME_LATE.has(event.type) ? { isLate: true } : {}) });
  }

  onDeed(org: OrgId, revision: number, action: string | null): void {
    if (action !== null) this.sealing.set(action, revision);
    const ledger = this.ledgerOf(org);
    ledger.revision = revision;
    if (action !== null && revision <= ledger.passedUpTo) {
      this.removed += ledger.missing.get(action)?.length ?? 0;
      ledger.missing.delete(action);
    }
    // Deeds that follow are not passed, whichever actions they are of.
    if (revision >= ledger.passedUpTo) this.giveUp(ledger);
  }

  take(): readonly AuditedPayload[] {
    const named = this.named;
    this.named = [];
    this.sealed = this.sealing;
    this.sealing = new Map();
    return named;
  }

  /** @param revision of the last deed that retention has passed, asked for after the payloads were compared */
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

  /** The log is at its end: an action that has no deed there was not passed. */
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
