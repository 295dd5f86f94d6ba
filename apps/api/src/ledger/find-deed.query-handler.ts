import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { StoreUnavailable, type DeedId, type OrgId } from '#libs/domain/kernel';
import { DeedRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';

/**
 * The place of a deed in its organization's ledger, from which the caller reads its bytes. Null if there is no such
 * deed.
 * @throws {StoreUnavailable} when the rows are behind the log, so that it is not known yet whether the deed exists
 */
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
    // A deed never changes, so only a deed that is not found is worth waiting for.
    return (await this.find(org, deed)) ?? (await this.findCaughtUp(org, deed));
  }

  private async findCaughtUp(org: OrgId, deed: DeedId): Promise<DeedRow | null> {
    const { lagEvents } = await this.waiter.catchUp(['deeds']);
    const row = await this.find(org, deed);
    if (row === null && lagEvents > 0) throw new StoreUnavailable(`the rows of deeds are ${lagEvents} events behind`);
    return row;
  }

  private find(org: OrgId, deed: DeedId): Promise<DeedRow | null> {
    return this.readModels.of(org, DeedRow).where('row.id = :deed', { deed }).first();
  }
}
