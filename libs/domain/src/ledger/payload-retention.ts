import { DeedBodyError, digestOf, parseDeedBody, type DeedBody } from '#libs/crypto';
import {
  BrokenStream,
  DamagedEvent,
  decodeEvent,
  isStoreAway,
  MissingEvent,
  streamRef,
  timestampOf,
  type ActionId,
  type Clock,
  type FoldedStreams,
  type OrgId,
  type RecordedEvent,
  type Timestamp,
} from '../kernel/index.js';
import { organizationDecider, RETENTION_DAYS_DEFAULT } from '../people/index.js';
import type { LedgerEvent } from './deed.events.js';
import type { LedgerReader } from './ledger-reader.js';
import { standingDeed } from './retention-reach.js';
import type { RetentionCursor, RetentionRows } from './retention.ports.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The most deeds of one transaction, which removes some thousand rows. */
const BATCH_DEEDS = 500;

export interface RemovedBatch {
  /** How many deeds the cursor has passed. */
  readonly deeds: number;
  /** How many bodies were removed. */
  readonly removed: number;
  /** Whether another batch may be due. */
  readonly hasMore: boolean;
}

const NOTHING: RemovedBatch = { deeds: 0, removed: 0, hasMore: false };

interface DueDeed {
  readonly action: ActionId | null;
  readonly cursor: RetentionCursor;
}

/**
 * Removes what agents and tools said once the retention days of their organization are over, counted from the deed: all
 * payloads of the action, whichever event names them. The ledger decides the order and how far to go, so an action
 * without a deed keeps its payloads. Deeds hold digests only and verify as before.
 */
export class PayloadRetention {
  /**
   * Halved if the database ran out of time: bodies may be of any size, and a batch that never fits would block
   * retention for ever.
   */
  private batch: number;

  constructor(
    private readonly streams: FoldedStreams,
    private readonly ledger: LedgerReader,
    private readonly rows: RetentionRows,
    private readonly clock: Pick<Clock, 'nowMs'>,
    private readonly batchDeeds = BATCH_DEEDS,
  ) {
    this.batch = batchDeeds;
  }

  /**
   * Removes the payloads of the next deeds of one organization whose days are over. May be repeated, and run by several
   * processes at once.
   * @throws {StoreUnavailable} when the database gives no answer: try again, nothing is lost
   * @throws {BrokenStream} when a deed is not as it was sealed: nothing is removed because of such a deed
   */
  async removeBatch(org: OrgId): Promise<RemovedBatch> {
    const before = await this.endOfDays(org);
    if (before === null) return NOTHING;
    const from = await this.rows.cursorOf(org);
    // If the ledger was set back and continued differently, the cursor is void and the whole ledger is gone through
    // again.
    const stands = from !== null && (await standingDeed(this.ledger, from)) !== null;
    const next = stands ? from.revision + 1 : 0;
    const limit = this.batch;
    const due = await this.dueFrom(org, next, before, limit);
    const last = due.at(-1);
    if (!last) return NOTHING;
    const actions = due.flatMap(({ action }) => (action === null ? [] : [action]));
    const removed = await this.remove([...new Set(actions)], from, last.cursor);
    if (removed === null) return NOTHING;
    return { deeds: due.length, removed, hasMore: due.length === limit };
  }

  /** The instant before which deeds have had their days. Null if the log has no such organization. */
  private async endOfDays(org: OrgId): Promise<Timestamp | null> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    if (state.status === 'none') return null;
    return timestampOf(this.clock.nowMs() - (state.retentionDays ?? RETENTION_DAYS_DEFAULT) * DAY_MS);
  }

  private async dueFrom(org: OrgId, next: number, before: Timestamp, limit: number): Promise<readonly DueDeed[]> {
    const due: DueDeed[] = [];
    // In most rounds the first deed is too young, and no other is read.
    const first = await this.ledger.recordAt(org, next + 1);
    if (first === null || soundDeed(first).issuedAt >= before) return due;
    for await (const recorded of this.ledger.records(org, next + 1, next + limit)) {
      // A damaged deed behind others ends this batch; it is an error once it is the first of a batch.
      const deed = due.length === 0 ? soundDeed(recorded) : orNull(() => soundDeed(recorded));
      // Timestamps have one spelling of one length, so they can be compared as strings; and those of a ledger never
      // decrease.
      if (deed === null || deed.issuedAt >= before) break;
      if (recorded.revision !== next + due.length) throw new MissingEvent(recorded.stream, next + due.length);
      due.push({ action: deed.action, cursor: { org, revision: recorded.revision, bodyHash: deed.bodyHash } });
    }
    return due;
  }

  private async remove(
    actions: readonly ActionId[],
    from: RetentionCursor | null,
    to: RetentionCursor,
  ): Promise<number | null> {
    try {
      const removed = await this.rows.remove(actions, from, to);
      this.batch = Math.min(this.batchDeeds, 2 * this.batch);
      return removed;
    } catch (error) {
      if (isStoreAway(error)) this.batch = Math.max(1, Math.floor(this.batch / 2));
      throw error;
    }
  }
}

/**
 * Reads a deed from its sealed bytes alone, because no seal covers what the event says beside them.
 * @throws {DamagedEvent} when the bytes are not those that were sealed
 */
const soundDeed = (
  recorded: RecordedEvent,
): Pick<RetentionCursor, 'bodyHash'> & { readonly issuedAt: Timestamp; readonly action: ActionId | null } => {
  const { body, body_hash: bodyHash } = decodeEvent<LedgerEvent>(recorded).event.data;
  const bytes = Buffer.from(String(body));
  if (digestOf(bytes) !== bodyHash) throw new DamagedEvent(recorded);
  const { issued_at: issuedAt, action } = deedIn(bytes, recorded);
  return { issuedAt, action: (action?.id ?? null) as ActionId | null, bodyHash };
};

const orNull = <Value>(read: () => Value): Value | null => {
  try {
    return read();
  } catch (error) {
    if (error instanceof BrokenStream) return null;
    throw error;
  }
};

const deedIn = (bytes: Uint8Array, recorded: RecordedEvent): DeedBody => {
  try {
    return parseDeedBody(bytes);
  } catch (error) {
    throw error instanceof DeedBodyError ? new DamagedEvent(recorded) : error;
  }
};
