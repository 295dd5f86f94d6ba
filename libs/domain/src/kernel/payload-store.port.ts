import type { Digest } from '#libs/crypto';
import type { Append, AppendResult, EventStore } from './event-store.port.js';
import type { Payload, PayloadKind } from './payload.js';

/**
 * In characters of the body. A larger payload is written before its append and not along with it, so that it does not
 * delay other appends.
 */
const MAX_ALONG = 16_384;

/**
 * Rows beside the log (docs/architecture.md): a payload is written no later than the event that names it, and is inert
 * until then. If the event store is in the same PostgreSQL server, the commit of a payload alone need not wait for the
 * disk: the order of the WAL makes its row durable no later than the event.
 */
export abstract class PayloadStore {
  /** Writing the same owner, kind and digest again changes nothing. */
  abstract put(payload: Payload): Promise<void>;
  /**
   * Null if no such payload is stored. Whether retention removed it is for `RetentionReach` to say.
   * @throws {DamagedPayload} when the stored body has another digest; such a body is never returned
   */
  abstract get(owner: string, kind: PayloadKind, digest: Digest): Promise<string | null>;

  /**
   * Appends events that name a payload. The payload is written in the same commit if the store can do that, else before
   * it.
   * @throws {RevisionConflict} {AppendTooLarge} {StoreUnavailable} as {@link EventStore.append}; the payload may be
   * stored then, and is inert
   */
  async append(store: EventStore, append: Append, payload: Payload): Promise<AppendResult> {
    if (store.storesPayloads && payload.body.length <= MAX_ALONG)
      return store.append({ payloads: [payload], ...append });
    await this.put(payload);
    return store.append(append);
  }
}
