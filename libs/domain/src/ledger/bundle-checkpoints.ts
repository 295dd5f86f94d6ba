import { type CoveringCheckpoint, encodeHex, TileError } from '#libs/crypto';
import {
  type Clock,
  DomainError,
  ForeseenFault,
  type OrgId,
  type Randomness,
  RevisionConflict,
  StoreUnavailable,
  SYSTEM,
  timestampOf,
} from '../kernel/index.js';
import { type CheckpointMaker, LedgerInconsistent } from './checkpoint-maker.js';
import type { LedgerProofs } from './ledger-proofs.js';

const EXPORTED_WITHOUT = [
  LedgerInconsistent,
  StoreUnavailable,
  ForeseenFault,
  DomainError,
  RevisionConflict,
  TileError,
];

interface CoveredDeeds {
  readonly first: number;
  readonly last: number;
}

/**
 * The checkpoint that a bundle takes along: the newest, where it covers its last deed. Null where there is none, which is no
 * reason not to export.
 */
export abstract class BundleCheckpoints {
  /** @param deeds the first and the last `seq` of the bundle */
  abstract covering(org: OrgId, deeds: CoveredDeeds): Promise<CoveringCheckpoint | null>;
}

/** Signs one where the bundle reaches beyond the newest. */
export class SignedBundleCheckpoints extends BundleCheckpoints {
  constructor(
    private readonly proofs: Pick<LedgerProofs, 'covering'>,
    private readonly maker: Pick<CheckpointMaker, 'make'>,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {
    super();
  }

  override async covering(org: OrgId, { first, last }: CoveredDeeds): Promise<CoveringCheckpoint | null> {
    try {
      const known = await this.proofs.covering(org, first, last);
      if (known !== null) return known;
      const commandId = encodeHex(this.randomness.bytes(16));
      const now = timestampOf(this.clock.nowMs());
      await this.maker.make(org, { org, actor: SYSTEM, requestId: null, commandId, now });
      return await this.proofs.covering(org, first, last);
    } catch (error) {
      // A ledger that does not continue what was signed is exported, too, and so is one whose key or hashes are not to be had.
      if (EXPORTED_WITHOUT.some((kind) => error instanceof kind)) return null;
      throw error;
    }
  }
}
