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
import type { LedgerReader } from './ledger-reader.js';

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
 * Whether one is signed for a bundle that reaches beyond the newest. `never`: nothing is to be read of it. `when_late`: for whoever
 * only reads; not before the worker should have signed it by itself. `at_once`: for whoever may make checkpoints.
 */
export type BundleSigning = 'never' | 'when_late' | 'at_once';

/** The pace of the worker, and a round of it. */
const LATE_MS = 120_000;

/**
 * The checkpoint that a bundle takes along: the newest, where it covers its last deed. Null where there is none, which is no
 * reason not to export.
 */
export abstract class BundleCheckpoints {
  /** @param deeds the first and the last `seq` of the bundle */
  abstract covering(org: OrgId, deeds: CoveredDeeds, signing: BundleSigning): Promise<CoveringCheckpoint | null>;
}

/** Signs one where the bundle reaches beyond the newest, and who asks may have it signed. */
export class SignedBundleCheckpoints extends BundleCheckpoints {
  constructor(
    private readonly proofs: Pick<LedgerProofs, 'covering' | 'newest'>,
    private readonly ledger: Pick<LedgerReader, 'deedAt'>,
    private readonly maker: Pick<CheckpointMaker, 'make'>,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {
    super();
  }

  override async covering(
    org: OrgId,
    { first, last }: CoveredDeeds,
    signing: BundleSigning,
  ): Promise<CoveringCheckpoint | null> {
    try {
      const known = await this.proofs.covering(org, first, last);
      if (known !== null || !(await this.maySign(org, signing))) return known;
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

  private async maySign(org: OrgId, signing: BundleSigning): Promise<boolean> {
    if (signing !== 'when_late') return signing === 'at_once';
    const size = (await this.proofs.newest(org))?.checkpoint.size ?? 0;
    const waiting = await this.ledger.deedAt(org, size + 1);
    return waiting !== null && this.clock.nowMs() - Date.parse(waiting.issued_at) > LATE_MS;
  }
}
