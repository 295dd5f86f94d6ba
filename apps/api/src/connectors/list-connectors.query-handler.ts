import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OrgId } from '#libs/domain/kernel';
import { ConnectorRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';

/** GET /v1/connectors: live connectors, newest first. */
export class ListConnectors extends Query<Listed<ConnectorRow>> {
  constructor(
    readonly org: OrgId,
    readonly page: PageRequest<TimePosition>,
  ) {
    super();
  }
}

@QueryHandler(ListConnectors)
export class ListConnectorsHandler implements IQueryHandler<ListConnectors> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  async execute({ org, page }: ListConnectors): Promise<Listed<ConnectorRow>> {
    const { lagEvents } = await this.waiter.catchUp(['connectors']);
    const rows = this.readModels.of(org, ConnectorRow);
    return { ...(await newestFirst(rows, page)), lagEvents };
  }
}
