import type { Frontier, SigningKey, Tile, TileId } from '#libs/crypto';
import type { OrgId, Timestamp } from '../kernel/index.js';

/** Opens the private halves of checkpoint keys, which are stored encrypted beside the log. */
export abstract class CheckpointKeyRing {
  /** @throws {DomainError} `vault_unavailable` when the key is not stored or cannot be decrypted */
  abstract open(kid: string): Promise<SigningKey>;
  /** Stores a new key before the event that registers it. */
  abstract store(key: SigningKey): Promise<void>;
}

/** The hashes of an organization's tree. All of them can be made again from its ledger. */
export abstract class LedgerTreeRows {
  /** How far the tree is; the empty one where there is none. */
  abstract frontier(org: OrgId): Promise<Frontier>;
  /** The bytes of full tiles, in the order asked; empty for one that is missing. */
  abstract tiles(org: OrgId, ids: readonly TileId[]): Promise<readonly Uint8Array[]>;
  /**
   * Writes the full tiles and the new frontier together.
   * @param from the size that the tree must have
   * @returns false when it has another one: nothing was written
   */
  abstract grow(org: OrgId, from: number, tiles: readonly Tile[], frontier: Frontier): Promise<boolean>;
  abstract remove(org: OrgId): Promise<void>;
}

/**
 * Why an organization's ledger is not what was signed. Closed. `shorter`: it has fewer deeds than the last checkpoint.
 * `other_root`: the root of as many deeds is another one. `altered_deed`: a stored deed is not what was sealed, or does
 * not follow the one before. `other_origin`: a break was accepted of which the database knows nothing. `witness_ahead`: a witness
 * holds a larger tree under our key. `witness_disagrees`: the tree does not continue the one that a witness cosigned.
 */
export type LedgerBreakReason =
  'shorter' | 'other_root' | 'altered_deed' | 'other_origin' | 'witness_ahead' | 'witness_disagrees';

/** A ledger for which nothing is signed until an operator has looked at it. */
export interface BrokenLedger {
  readonly org: OrgId;
  readonly reason: LedgerBreakReason;
  /** Deeds that the ledger had, and that the last checkpoint, or the witness, has. */
  readonly size: number;
  readonly signedSize: number;
  readonly since: Timestamp;
}

/** The ledgers that do not continue what was signed. */
export abstract class BrokenLedgers {
  abstract all(): Promise<readonly BrokenLedger[]>;
  abstract of(org: OrgId): Promise<BrokenLedger | null>;
  /** The first word stays: `since` is when it was found. */
  abstract add(broken: BrokenLedger): Promise<void>;
  abstract remove(org: OrgId): Promise<void>;
}
