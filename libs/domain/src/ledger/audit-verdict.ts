import type { NamedPayload, PayloadFault, PayloadName } from '../gate/index.js';
import type { OrgId, Timestamp } from '../kernel/index.js';

/** What an audit finds. Each has a sentence in docs/cli.md. */
export type AuditFaultCode =
  /** Its id is not the one that its place and content give. */
  | 'event_altered'
  /** Its stream has no event before it, or the log has none at the position before its own. */
  | 'event_missing'
  /** Nothing of this service writes it there: its action was over, or had not come so far, or is another one. */
  | 'event_unexpected'
  /** It is no JSON, or of a type that this version does not know: so it is not known what it asks for. */
  | 'event_unreadable'
  /** An event asks for a deed, and the ledger goes on without it. */
  | 'deed_missing'
  /** No event that is left asks for it. */
  | 'deed_unasked'
  /** The log gives other bytes for it. */
  | 'deed_differs'
  /** Its seal does not hold under the key that the log registered. */
  | 'bad_seal'
  /** The signature of its COSE form does not hold under that key. */
  | 'bad_cose_signature'
  /**
   * Its key was not active or was revoked when it was sealed; or the key was retired to an earlier time than the
   * deed's; or the deed is dated before the one before it.
   */
  | 'key_not_valid'
  /** What the event names by its digest, arguments or a result, is not stored beside the log, and retention did not remove it. */
  | 'payload_missing'
  /** What is stored there has another digest. */
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
  /** Of the payload that the event names; its owner is the action of the stream. Null for a fault of anything else. */
  readonly kind: PayloadName['kind'] | null;
  /** Also null where what the event names is no digest. */
  readonly digest: PayloadName['digest'] | null;
}

/** A payload to be compared, and the event that names it. */
export interface AuditedPayload {
  readonly named: NamedPayload;
  readonly place: AuditPlace;
  /** Named after its action's deed may have been sealed: the audit itself does not know whether retention has passed it. */
  readonly isLate?: true;
}

/** What is known of a payload once it was compared. `removed`, said of a late one alone: retention has passed its action. */
export type ComparedPayload = PayloadFault | 'removed' | null;

export interface AuditVerdict {
  readonly events: number;
  /** Rebuilt from the log and compared. */
  readonly deeds: number;
  /** Named by events, and compared with what is stored beside the log. */
  readonly payloads: number;
  /** Those of them that are gone because retention has passed the deed of their action. */
  readonly payloadsRemoved: number;
  /** Events that ask for a deed which the ledger does not hold yet. */
  readonly unsealed: number;
  /** When the oldest of them was recorded; null without one. */
  readonly unsealedSince: Timestamp | null;
  readonly faultCount: number;
  /** The first of them. */
  readonly faults: readonly AuditFault[];
}
