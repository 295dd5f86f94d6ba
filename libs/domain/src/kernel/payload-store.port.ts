import type { Digest } from '#libs/crypto';
import type { Append, AppendResult, EventStore } from './event-store.port.js';
import type { Payload, PayloadKind } from './payload.js';

/**
 * In characters of the body. A larger payload is written before its append, so that it holds up nobody else's append.
 */
const MAX_ALONG = 16_384;

/**
 * Rows beside the log (docs/architecture.md): written before the event that names them, inert until then. Where the
 * event store lives in the same server, the commit of a row need not be durable by itself: the order of the WAL makes
 * the row durable no later than the event.
 */
export abstract class PayloadStore {
  /** Writing the same owner, kind and digest again changes nothing. */
  abstract put(payload: Payload): Promise<void>;
  /**
   * Null when it was never written, or was removed: whether retention did that is for `RetentionReach` to say.
   * @throws {DamagedPayload} what is stored under that digest has another: such a body is handed to nobody
   */
  abstract get(owner: string, kind: PayloadKind, digest: Digest): Promise<string | null>;

  /**
   * Appends events that name a payload: written with them where the store can, and before them where not.
   * @throws {RevisionConflict} {AppendTooLarge} {StoreUnavailable} as {@link EventStore.append}; the payload may stand, inert
   */
  async append(store: EventStore, append: Append, payload: Payload): Promise<AppendResult> {
    if (store.storesPayloads && payload.body.length <= MAX_ALONG)
      return store.append({ payloads: [payload], ...append });
    await this.put(payload);
    return store.append(append);
  }
}
