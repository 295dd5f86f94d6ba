import type { SigningKey } from '#libs/crypto';
import type { EventPlace, OrgId, Position } from '../kernel/index.js';

/** Opens the private halves of seal keys, which are stored encrypted beside the log. */
export abstract class SealKeyRing {
  /** @throws {DomainError} `vault_unavailable` when the key is not stored or cannot be decrypted */
  abstract open(kid: string): Promise<SigningKey>;
  /** Stores a new key before the event that registers it. */
  abstract store(key: SigningKey): Promise<void>;
}

/**
 * Below its position everything is sealed or parked. Only a hint: it is void under another store id, or if the event
 * there has another id.
 */
export interface LowWater {
  readonly storeId: string;
  readonly position: Position;
  /** The event at that position, by which a reader checks that the position still means the same. */
  readonly event: EventPlace;
}

/** An organization whose sealing is stuck from its first unsealed event on. */
export interface ParkedOrg {
  readonly org: OrgId;
  readonly storeId: string;
  /** Every event up to here, inclusive, is sealed. */
  readonly after: Position;
  /** RFC 3339: since when the organization has been waiting. */
  readonly since: string;
  readonly reason: string;
}

/** The sealer's rows. All of them can be derived again from the log. */
export abstract class SealerProgress {
  abstract lowWater(): Promise<LowWater | null>;
  abstract setLowWater(lowWater: LowWater): Promise<void>;
  abstract parked(): Promise<readonly ParkedOrg[]>;
  /** The row must be committed before the low-water passes the organization's first unsealed event. */
  abstract park(org: ParkedOrg): Promise<void>;
  abstract unpark(org: OrgId): Promise<void>;
}
