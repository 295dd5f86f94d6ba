import type { SigningKey } from '#libs/crypto';
import type { EventPlace, OrgId, Position } from '../kernel/index.js';

/** Opens the private halves of seal keys, which lie encrypted beside the log. */
export abstract class SealKeyRing {
  /** @throws {DomainError} vault_unavailable */
  abstract open(kid: string): Promise<SigningKey>;
  /** Stores a new key before the event that registers it. */
  abstract store(key: SigningKey): Promise<void>;
}

/** Below it everything is sealed or parked. A hint: void under another store or when the event there has another id. */
export interface LowWater {
  readonly storeId: string;
  readonly position: Position;
  /** The event at that position, by which a reader checks that the position still means the same. */
  readonly event: EventPlace;
}

/** An organization whose ledger could not move, from its first unsealed event on. */
export interface ParkedOrg {
  readonly org: OrgId;
  readonly storeId: string;
  /** Everything up to here, inclusive, is sealed. */
  readonly after: Position;
  /** RFC 3339: since when the organization has been waiting. */
  readonly since: string;
  readonly reason: string;
}

/** The sealer's rows. All of them can be worked out again from the log. */
export abstract class SealerProgress {
  abstract lowWater(): Promise<LowWater | null>;
  abstract setLowWater(lowWater: LowWater): Promise<void>;
  abstract parked(): Promise<readonly ParkedOrg[]>;
  /** Committed before the low-water passes it. */
  abstract park(org: ParkedOrg): Promise<void>;
  abstract unpark(org: OrgId): Promise<void>;
}
