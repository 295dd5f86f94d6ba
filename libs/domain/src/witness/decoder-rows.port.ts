import { type ConnectorId, epochMsOf, type OrgId, type Timestamp } from '../kernel/index.js';
import type { DecoderAddress } from './decoder.commands.js';
import { DECODER_REASONS } from './decoder.events.js';

/**
 * `off`: nothing is followed, and by now nothing is kept for it at the database, unless the row says `slot_left`.
 */
export const DECODER_STATUSES = ['healthy', 'degraded', 'down', 'invalidated', 'off'] as const;
export type DecoderStatus = (typeof DECODER_STATUSES)[number];

/** `slot_left`: the slot of a connector that needs none could not be dropped, and keeps the log of its database. */
export const DECODER_ROW_REASONS = [...DECODER_REASONS, 'slot_left'] as const;
export type DecoderRowReason = (typeof DECODER_ROW_REASONS)[number];

const STATUS_OF: Readonly<Record<DecoderRowReason, DecoderStatus>> = {
  slot_lagging: 'degraded',
  decoder_down: 'down',
  slot_invalidated: 'invalidated',
  log_restored: 'invalidated',
  slot_left: 'off',
};

export const decoderStatusOf = (reason: DecoderRowReason | null): DecoderStatus =>
  reason === null ? 'healthy' : STATUS_OF[reason];

/** What a decoder finds at a look at itself. */
export interface DecoderLook extends DecoderAddress {
  readonly reason: DecoderRowReason | null;
  /** Null where nobody could say. */
  readonly lagBytes: number | null;
  /** How far it has read, `X/Y`; null before it has. */
  readonly position: string | null;
}

export interface DecoderRow extends DecoderLook {
  /** Since when `reason` is what it is. */
  readonly since: Timestamp;
  /** When the decoder looked last. A row that nobody has touched for a while is of a decoder that no process runs. */
  readonly seenAt: Timestamp;
}

/** A decoder that has not looked at itself for so long is down, whatever its row says. */
const SILENT_MS = 60_000;

/** What stays so whether anybody looks or not. */
const isLasting = (reason: DecoderRowReason | null): boolean =>
  ['off', 'invalidated'].includes(decoderStatusOf(reason));

/** What is so now: a silent decoder is down since it was last heard of. */
export const decoderNow = (row: DecoderRow, nowMs: number): DecoderRow =>
  !isLasting(row.reason) && nowMs - epochMsOf(row.seenAt) > SILENT_MS
    ? { ...row, reason: 'decoder_down', since: row.seenAt }
    : row;

/**
 * How each decoder is, one row a connector beside the log: it changes every second and seals nothing. A row is there from
 * the first attempt to follow a log until its slot is dropped, so it says, too, where a slot may have been left.
 */
export abstract class DecoderRows {
  /** Writes what was found. `since` moves only where `reason` differs from the row's. */
  abstract save(look: DecoderLook, nowMs: number): Promise<void>;

  /** By connector; those without a row are left out. */
  abstract of(connectors: readonly ConnectorId[]): Promise<ReadonlyMap<ConnectorId, DecoderRow>>;

  /** Of an organization, in the order of their names. */
  abstract in(org: OrgId): Promise<readonly DecoderRow[]>;

  /** Of all organizations: where slots may be. */
  abstract all(): AsyncIterable<DecoderAddress>;

  /** Nothing happens when there is none. */
  abstract forget(connector: ConnectorId): Promise<void>;
}
