import type { ConnectorId, OrgId, Timestamp } from '../kernel/index.js';

/**
 * Why what a connector does cannot be witnessed, or only late. `slot_lagging`: the decoder is behind. `decoder_down`: it has
 * no connection. `slot_invalidated`: the database threw away what the slot had still to send. `log_restored`: the database
 * is another one than before, so positions in its log mean other transactions.
 */
export const DECODER_REASONS = ['slot_lagging', 'decoder_down', 'slot_invalidated', 'log_restored'] as const;
export type DecoderReason = (typeof DECODER_REASONS)[number];

/** Whether a part of the log is lost for good: what committed there will never be seen. */
export const isLoss = (reason: DecoderReason | null): reason is 'slot_invalidated' | 'log_restored' =>
  reason === 'slot_invalidated' || reason === 'log_restored';

/** `bypass`: a table was changed by somebody who is not the service. `forged_mark`: somebody pretends to be it. */
export const DECODER_ALERTS = ['bypass', 'forged_mark'] as const;
export type DecoderAlertKind = (typeof DECODER_ALERTS)[number];

/** Which change log is followed, and by what. */
export interface AttachedLog {
  /** The system identifier of the database cluster, in decimal digits. */
  readonly system_id: string;
  /** Goes up where a standby is promoted or a backup is recovered to a point in time. */
  readonly timeline: number;
  /** The name of the replication slot. */
  readonly slot: string;
  /** Where the log stood, `X/Y`: of what committed before, this decoder need not have seen anything. */
  readonly start: string;
}

/** What a decoder found in the change log that nobody asked the service for. */
export interface DecoderAlert {
  readonly kind: DecoderAlertKind;
  /** `schema.table`; absent of a forged mark, which may stand alone. */
  readonly table?: string;
  /** How many rows of that table the transaction changed. */
  readonly rows?: number;
  /** The low 32 bits of the transaction's id. */
  readonly xid: number;
  readonly role?: string;
}

interface OfDecoder {
  readonly org: OrgId;
  readonly connector: ConnectorId;
  /** Of the connector, which never changes. */
  readonly name: string;
  readonly at: Timestamp;
}

type Event<Type extends string, Data = unknown> = { readonly type: Type; readonly data: OfDecoder & Data };

/**
 * Stream `decoder-<con_id>`, beside the connector's own: an event there would move the revision by which calls under way
 * know that nothing about their connector has changed, and each would be built anew. No deed seals any of these: none of
 * them is anybody's doing.
 */
export type DecoderEvent =
  /** The change log of this database is followed from now on: the first one, another one, or one that had been lost. */
  | Event<'DecoderAttached', AttachedLog>
  /** The slot was dropped on purpose: the connector was disabled or deleted, or its witness switched off. */
  | Event<'DecoderDetached', { readonly slot: string }>
  /** `lag_bytes` is absent where nobody could say. */
  | Event<'DecoderDegraded', { readonly reason: DecoderReason; readonly lag_bytes?: number }>
  | Event<'DecoderRecovered'>
  | Event<'DecoderAlerted', DecoderAlert>;
