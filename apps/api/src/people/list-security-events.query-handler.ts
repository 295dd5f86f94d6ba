import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OrgId } from '#libs/domain/kernel';
import { ProjectionWaiter, ReadModels, SecurityEventRow } from '#libs/infra/read-models';
import { type Conditions, narrow } from '../lists/conditions.js';
import type { FiltersOf } from '../lists/filters.js';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';

/** GET /v1/security-events, newest first. */
export class ListSecurityEvents extends Query<Listed<SecurityEventRow>> {
  constructor(
    readonly org: OrgId,
    readonly filters: FiltersOf<'listSecurityEvents'>,
    readonly page: PageRequest<TimePosition>,
  ) {
    super();
  }
}

@QueryHandler(ListSecurityEvents)
export class ListSecurityEventsHandler implements IQueryHandler<ListSecurityEvents> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  async execute({ org, filters, page }: ListSecurityEvents): Promise<Listed<SecurityEventRow>> {
    const { lagEvents } = await this.waiter.catchUp(['security_events']);
    const rows = this.readModels.of(org, SecurityEventRow);
    narrow(rows, filters, CONDITIONS);
    return { ...(await newestFirst(rows, page)), lagEvents };
  }
}

const CONDITIONS: Conditions<'listSecurityEvents', SecurityEventRow> = {
  type: (rows, types) => rows.where('row.type = ANY(:types)', { types }),
};
