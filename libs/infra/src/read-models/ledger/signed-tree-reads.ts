import type { OrgId } from '#libs/domain/kernel';
import { type SignedTree, signedTreeOf, SignedTreeRows } from '#libs/domain/ledger';
import type { ReadModels } from '../org-rows.js';
import type { ProjectionWaiter } from '../projection-waiter.js';
import { CheckpointRow } from './checkpoint.row.js';

/** A checkpoint never changes, so only one that is not found is worth waiting for. */
export class SignedTreeReads extends SignedTreeRows {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: Pick<ProjectionWaiter, 'catchUp'>,
  ) {
    super();
  }

  override async ofSize(org: OrgId, origin: string, size: number): Promise<SignedTree | null> {
    const found = await this.find(org, origin, size);
    if (found !== null) return found;
    await this.waiter.catchUp(['checkpoints']);
    return this.find(org, origin, size);
  }

  private async find(org: OrgId, origin: string, size: number): Promise<SignedTree | null> {
    const rows = this.readModels.of(org, CheckpointRow);
    const row = await rows.where('row.origin = :origin AND row.size = :size', { origin, size }).first();
    return row && signedTreeOf({ ...row, at: row.madeAt });
  }
}
