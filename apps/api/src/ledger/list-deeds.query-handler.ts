import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { AgentId, OrgId } from '#libs/domain/kernel';
import { DeedRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import type { Listed, PageRequest } from '../lists/listed.js';
import type { DeedFilters } from './list-deeds.filters.js';

// An alias and not an interface: only an alias is assignable to JSON, which a cursor carries.
export type DeedPosition = {
  readonly seq: number;
};

/** GET /v1/deeds: envelopes by `seq`, ascending unless asked otherwise. */
export class ListDeeds extends Query<Listed<DeedRow>> {
  constructor(
    readonly org: OrgId,
    readonly filters: DeedFilters,
    readonly page: PageRequest<DeedPosition>,
    /** Set for an agent's key, which sees the deeds of its own actions alone. */
    readonly onlyAgent: AgentId | null,
  ) {
    super();
  }
}

@QueryHandler(ListDeeds)
export class ListDeedsHandler implements IQueryHandler<ListDeeds> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  async execute({ org, filters, page, onlyAgent }: ListDeeds): Promise<Listed<DeedRow>> {
    const { lagEvents } = await this.waiter.catchUp(['deeds']);
    const { kinds, action, issuedFrom, issuedBefore, order } = filters;
    const rows = this.readModels.of(org, DeedRow);
    if (onlyAgent !== null) rows.where('row.agent = :onlyAgent', { onlyAgent });
    if (kinds !== null) rows.where('row.kind = ANY(:kinds)', { kinds });
    if (action !== null) rows.where('row.action = :action', { action });
    if (issuedFrom !== null) rows.where('row.issuedAt >= :issuedFrom', { issuedFrom });
    if (issuedBefore !== null) rows.where('row.issuedAt < :issuedBefore', { issuedBefore });
    if (page.after) rows.where(order === 'asc' ? 'row.seq > :after' : 'row.seq < :after', { after: page.after.seq });
    const found = await rows.orderBy('seq', order === 'asc' ? 'ASC' : 'DESC').page(page.limit);
    return { ...found, lagEvents };
  }
}
