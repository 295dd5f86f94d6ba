import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { StoreUnavailable, type ConnectorId, type OrgId } from '#libs/domain/kernel';
import { ConnectorRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';

/**
 * The name of the live connector with an id, null when there is none: names lead to streams, ids do not. Whoever decides
 * something reads the stream of that name and compares the id there, since the name may have begun another life.
 * @throws {StoreUnavailable} the rows are behind the log, so nobody knows yet
 */
export class FindConnectorName extends Query<string | null> {
  constructor(
    readonly org: OrgId,
    readonly connector: ConnectorId,
  ) {
    super();
  }
}

@QueryHandler(FindConnectorName)
export class FindConnectorNameHandler implements IQueryHandler<FindConnectorName> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  async execute({ org, connector }: FindConnectorName): Promise<string | null> {
    return (await this.find(org, connector)) ?? (await this.findCaughtUp(org, connector));
  }

  private async findCaughtUp(org: OrgId, connector: ConnectorId): Promise<string | null> {
    const { lagEvents } = await this.waiter.catchUp(['connectors']);
    const name = await this.find(org, connector);
    if (name === null && lagEvents > 0) {
      throw new StoreUnavailable(`the rows of connectors are ${lagEvents} events behind`);
    }
    return name;
  }

  private async find(org: OrgId, connector: ConnectorId): Promise<string | null> {
    const row = await this.readModels.of(org, ConnectorRow).where('row.id = :connector', { connector }).first();
    return row?.name ?? null;
  }
}
