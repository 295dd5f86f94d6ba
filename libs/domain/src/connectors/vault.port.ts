import type { OrgId } from '../kernel/index.js';

/** Where a secret lies. Its ciphertext opens under exactly this place and no other. */
export interface SecretPlace {
  readonly org: OrgId;
  /** The id of the object the secret belongs to, for example a `con_` id. */
  readonly object: string;
  /** Named by the event that makes the rows real. */
  readonly version: string;
}

export interface StoredSecret extends SecretPlace {
  /** The stream whose events name the version, so that a sweeper can ask whether they still do. */
  readonly stream: string;
}

/** An opened secret. Its bytes are zeroed by `destroy`; keep no copy beyond that. */
export interface OpenedSecret {
  readonly fields: ReadonlyMap<string, Uint8Array>;
  destroy(): void;
}

/**
 * Secrets as versioned rows beside the log (docs/architecture.md, Rows beside the log): written first and inert, real
 * once an event names the version, destroyed after the event that lets it go.
 */
export abstract class Vault {
  /** Writes all fields or none. Writing the same place again replaces it. Zeroing the given bytes is the caller's part. */
  abstract put(secret: StoredSecret, fields: ReadonlyMap<string, Uint8Array>): Promise<void>;

  /**
   * Null when no row lies there: it was removed.
   * @throws {DomainError} vault_unavailable: the rows cannot be read, or do not open here (another key, a moved or changed row)
   */
  abstract open(place: SecretPlace): Promise<OpenedSecret | null>;

  /** Removes the rows; nothing happens when there are none. */
  abstract destroy(place: SecretPlace): Promise<void>;

  /**
   * The key under which an object's own marks are made (libs/crypto, action-mark.ts): derived from the vault's key, stored
   * nowhere, the same in every process and for ever. It opens no secret. Zero it when it is no longer needed.
   * @throws {DomainError} vault_unavailable: the vault's key cannot be had
   */
  abstract markKeyOf(owner: Pick<SecretPlace, 'org' | 'object'>): Promise<Uint8Array>;

  /** Secrets whose rows are older than that, in no particular order, for the sweeper. */
  abstract olderThan(ageMs: number): AsyncIterable<StoredSecret>;
}
