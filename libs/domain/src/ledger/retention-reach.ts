import {
  BrokenStream,
  decodeEvent,
  UnknownEventType,
  type EventStore,
  type OrgId,
  type Position,
  type RecordedEvent,
} from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';
import { LedgerReader } from './ledger-reader.js';
import type { RetentionCursor, RetentionRows } from './retention.ports.js';
import { foldAction } from './seal-source.js';

/** How far retention came in a ledger, and the position of the event that the deed there seals. */
interface Reached {
  readonly cursor: RetentionCursor;
  readonly sealedUpTo: Position;
}

/**
 * Tells whether a body that is not stored was removed by retention: only if the cursor has passed the deed of its
 * action. Otherwise the body is damaged. A cursor is ignored if the ledger does not hold its deed, because after a log
 * was set back another deed may be at that place.
 */
export class RetentionReach {
  private readonly ledger: LedgerReader;
  /** Deeds never change, so the position found for a cursor stays valid. */
  private readonly known = new Map<OrgId, Reached>();

  constructor(
    private readonly store: EventStore,
    private readonly rows: Pick<RetentionRows, 'cursorOf'>,
  ) {
    this.ledger = new LedgerReader(store);
  }

  /** The revision of the last deed that retention has passed; null if it has passed none. */
  async passedUpTo(org: OrgId): Promise<number | null> {
    return (await this.reached(org))?.cursor.revision ?? null;
  }

  /** @param sealing position of the event that the action's deed seals. In a ledger these positions never decrease */
  async hasPassed(org: OrgId, sealing: Position): Promise<boolean> {
    const reached = await this.reached(org);
    return reached !== null && sealing <= reached.sealedUpTo;
  }

  /**
   * As `hasPassed`, for a caller that knows only the action's stream. False for an action that cannot be read or was
   * never sealed.
   */
  async hasPassedAction(org: OrgId, stream: string): Promise<boolean> {
    const sealing = sealingPositionIn(await this.store.readStream(stream));
    return sealing !== null && (await this.hasPassed(org, sealing));
  }

  private async reached(org: OrgId): Promise<Reached | null> {
    const cursor = await this.rows.cursorOf(org);
    if (cursor === null) return null;
    const known = this.known.get(org);
    if (known?.cursor.revision === cursor.revision && known.cursor.bodyHash === cursor.bodyHash) return known;
    const sealedUpTo = await this.sealedUpTo(cursor);
    if (sealedUpTo === null) return null;
    const reached = { cursor, sealedUpTo };
    this.known.set(org, reached);
    return reached;
  }

  private async sealedUpTo(cursor: RetentionCursor): Promise<Position | null> {
    const recorded = await standingDeed(this.ledger, cursor);
    const source = recorded && decodeEvent<LedgerEvent>(recorded).metadata.source;
    if (!source) return null;
    const [event] = await this.store.readStream(source.stream, { from: source.revision, limit: 1 });
    return event?.revision === source.revision ? event.position : null;
  }
}

/**
 * The deed at a cursor; null if the ledger has another deed there, or none.
 * @throws {DamagedEvent} when the deed there cannot be read
 */
export const standingDeed = async (
  ledger: LedgerReader,
  { org, revision, bodyHash }: RetentionCursor,
): Promise<RecordedEvent | null> => {
  const recorded = await ledger.recordAt(org, revision + 1);
  return recorded && decodeEvent<LedgerEvent>(recorded).event.data.body_hash === bodyHash ? recorded : null;
};

const sealingPositionIn = (events: readonly RecordedEvent[]): Position | null => {
  try {
    const action = foldAction(events.map((recorded) => decodeEvent(recorded)));
    if (action.state === 'none' || action.state === 'abandoned' || action.sealingRevision === null) return null;
    return events[action.sealingRevision]?.position ?? null;
  } catch (error) {
    if (error instanceof BrokenStream || error instanceof UnknownEventType) return null;
    throw error;
  }
};
