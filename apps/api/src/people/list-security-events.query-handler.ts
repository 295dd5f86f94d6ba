import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OrgId } from '#libs/domain/kernel';
import { ProjectionWaiter, ReadModels, SecurityEventRow, type SecurityEventType } from '#libs/infra/read-models';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';

/** GET /v1/security-events, newest first. */
export class ListSecurityEvents extends Query<Listed<SecurityEventRow>> {
  constructor(
    readonly org: OrgId,
    /** Null: of every type. */
    readonly types: readonly SecurityEventType[] | null,
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

  async execute({ org, types, page }: ListSecurityEvents): Promise<Listed<SecurityEventRow>> {
    const { lagEvents } = await this.waiter.catchUp(['security_events']);
    const rows = this.readModels.of(org, SecurityEventRow);
    if (types !== null) rows.where('row.type = ANY(:types)', { types });
    return { ...(await newestFirst(rows, page)), lagEvents };
  }
}
