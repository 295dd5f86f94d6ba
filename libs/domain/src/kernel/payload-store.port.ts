import type { Digest, Salt } from '#libs/crypto';
import type { Payload, PayloadKind } from './payload.js';

/**
 * Rows beside the log (docs/architecture.md): a payload is written no later than the event that names it, and is inert
 * until then. If the event store is in the same PostgreSQL server, the commit of a payload alone need not wait for the
 * disk: the order of the WAL makes its row durable no later than the event. A payload that has an append of its own is
 * handed to {@link CompoundAppends}, which may store it in the same commit.
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
   * As {@link get}, with the roots of the salts under which deeds may commit to it; none in rows of older versions.
   * @throws {DamagedPayload} as {@link get}
   */
  abstract salted(
    owner: string,
    kind: PayloadKind,
    digest: Digest,
  ): Promise<{ readonly body: string; readonly salts: readonly Salt[] } | null>;
}
