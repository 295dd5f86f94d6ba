import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ConnectorHealth, type ConnectorTest } from '#libs/domain/connectors';
import type { OrgId } from '#libs/domain/kernel';
import { ConnectorRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';

/** A row, and the last test of its connector. */
interface ListedConnector extends ConnectorRow {
  readonly lastTest: ConnectorTest | null;
}

/** GET /v1/connectors: live connectors, newest first. */
export class ListConnectors extends Query<Listed<ListedConnector>> {
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
    private readonly health: ConnectorHealth,
  ) {}

  async execute({ org, page }: ListConnectors): Promise<Listed<ListedConnector>> {
    const { lagEvents } = await this.waiter.catchUp(['connectors']);
    const { rows, hasMore } = await newestFirst(this.readModels.of(org, ConnectorRow), page);
    const last = await this.health.lastOf(rows.map(({ id }) => id));
    return { rows: rows.map((row) => ({ ...row, lastTest: last.get(row.id) ?? null })), hasMore, lagEvents };
  }
}
