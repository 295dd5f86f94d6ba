import type { OrgId } from '#libs/domain/kernel';
import {
  type Cosignature,
  type SignedTree,
  signedTreeOf,
  SignedTreeRows,
  type WitnessedSize,
} from '#libs/domain/ledger';
import type { ReadModels } from '../org-rows.js';
import type { ProjectionWaiter } from '../projection-waiter.js';
import { CheckpointRow } from './checkpoint.row.js';
import { CosignatureRow } from './cosignature.row.js';

/** A checkpoint and what was said of it never change, so only what is not found is worth waiting for. */
export class SignedTreeReads extends SignedTreeRows {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: Pick<ProjectionWaiter, 'catchUp'>,
  ) {
    super();
  }

  override async ofSize(org: OrgId, origin: string, size: number): Promise<SignedTree | null> {
    return this.found(async () => {
      const rows = this.readModels.of(org, CheckpointRow);
      const row = await rows.where('row.origin = :origin AND row.size = :size', { origin, size }).first();
      return row && signedTreeOf({ ...row, at: row.madeAt });
    });
  }

  override async cosignatures(org: OrgId, origin: string, size: number): Promise<readonly Cosignature[]> {
    const rows = this.readModels.of(org, CosignatureRow);
    return rows.where('row.origin = :origin AND row.size = :size', { origin, size }).all();
  }

  override witnessedSize(org: OrgId, wanted: WitnessedSize): Promise<number | null> {
    return this.found(() => this.readModels.witnessedSize(org, wanted));
  }

  private async found<Found>(find: () => Promise<Found | null>): Promise<Found | null> {
    const found = await find();
    if (found !== null) return found;
    await this.waiter.catchUp(['checkpoints']);
    return find();
  }
}
