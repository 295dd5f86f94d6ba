import type { NamedPayload, PayloadFault, PayloadName } from '../gate/index.js';
import type { OrgId, Timestamp } from '../kernel/index.js';

/** The kinds of faults that an audit finds. docs/cli.md explains each in a sentence. */
export type AuditFaultCode =
  /** The event's id is not the one that follows from its place and content. */
  | 'event_altered'
  /** The event before it is missing, in its stream or at the position before its own. */
  | 'event_missing'
  /** The service never writes such an event there: the action was over, had not come so far, or is another one. */
  | 'event_unexpected'
  /** The event is no JSON, or of a type that this version does not know, so whether it asks for a deed is unknown. */
  | 'event_unreadable'
  /** An event asks for a deed, and the ledger continues without that deed. */
  | 'deed_missing'
  /** No event that still waits for a deed asks for this one. */
  | 'deed_unasked'
  /** The deed made again from the log has other bytes. */
  | 'deed_differs'
  /** The deed's seal does not verify under the key that the log registered. */
  | 'bad_seal'
  /** The signature of the deed's COSE form does not verify under that key. */
  | 'bad_cose_signature'
  /**
   * The deed's key was not active or was revoked when it was sealed; or the key was retired as of a time at or
   * before the deed's; or the deed is dated before the deed that it follows.
   */
  | 'key_not_valid'
  /**
   * The payload that the event names by its digest (such as arguments or a result) is not stored beside the log, and
   * retention did not remove it.
   */
  | 'payload_missing'
  /** The stored payload has another digest. */
  | 'payload_differs';

/** The place of an event. */
export interface AuditPlace {
  readonly org: OrgId | null;
  readonly stream: string;
  /** The revision in the stream, from 0. In a ledger it is one less than the deed's `seq`. */
  readonly revision: number;
}

export interface AuditFault extends AuditPlace {
  readonly code: AuditFaultCode;
  /** The kind of the payload that the event names; its owner is the action of the stream. Null for any other fault. */
  readonly kind: PayloadName['kind'] | null;
  /** The payload's digest; null if `kind` is, or if what the event names is not a digest. */
  readonly digest: PayloadName['digest'] | null;
}

/** A payload that is to be compared, and the event that names it. */
export interface AuditedPayload {
  readonly named: NamedPayload;
  readonly place: AuditPlace;
  /**
   * The event may have come after the action's deed was sealed, so the audit cannot tell from the log whether retention
   * has passed it.
   */
  readonly isLate?: true;
}

/**
 * The result of comparing a payload; null if it is as it was written. `removed`, only for one that `isLate`: retention
 * has removed it.
 */
export type ComparedPayload = PayloadFault | 'removed' | null;

export interface AuditVerdict {
  readonly events: number;
  /** Deeds that were made again from the log and compared. */
  readonly deeds: number;
  /** Payloads that events name and that were compared with those stored beside the log. */
  readonly payloads: number;
  /** How many of these payloads are gone because retention has passed the deed of their action. */
  readonly payloadsRemoved: number;
  /** Events that ask for a deed which the ledger does not hold yet. */
  readonly unsealed: number;
  /** When the oldest of these events was recorded; null if there is none. */
  readonly unsealedSince: Timestamp | null;
  readonly faultCount: number;
  /** The first of the faults. */
  readonly faults: readonly AuditFault[];
}
