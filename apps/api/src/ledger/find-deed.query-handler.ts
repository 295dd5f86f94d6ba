import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { DeedId, OrgId } from '#libs/domain/kernel';
import { DeedRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';

/** Where a deed stands in its organization's ledger: its bytes are read from there. Null when there is none such. */
export class FindDeed extends Query<DeedRow | null> {
  constructor(
    readonly org: OrgId,
    readonly deed: DeedId,
  ) {
    super();
  }
}

@QueryHandler(FindDeed)
export class FindDeedHandler implements IQueryHandler<FindDeed> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  async execute({ org, deed }: FindDeed): Promise<DeedRow | null> {
    // A deed never changes: only one that is not there yet is worth waiting for.
    return (await this.find(org, deed)) ?? (await this.findCaughtUp(org, deed));
  }

  private async findCaughtUp(org: OrgId, deed: DeedId): Promise<DeedRow | null> {
    await this.waiter.catchUp(['deeds']);
    return this.find(org, deed);
  }

  private find(org: OrgId, deed: DeedId): Promise<DeedRow | null> {
    return this.readModels.of(org, DeedRow).where('row.id = :deed', { deed }).first();
  }
}
