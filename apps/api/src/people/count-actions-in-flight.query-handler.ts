import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OrgId } from '#libs/domain/kernel';
import { ActionRow, ReadModels } from '#libs/infra/read-models';

/** How many actions of an organization were sent to a tool and have not ended, as far as the lists know. */
export class CountActionsInFlight extends Query<number> {
  constructor(readonly org: OrgId) {
    super();
  }
}

@QueryHandler(CountActionsInFlight)
export class CountActionsInFlightHandler implements IQueryHandler<CountActionsInFlight> {
  constructor(private readonly readModels: ReadModels) {}

  async execute({ org }: CountActionsInFlight): Promise<number> {
    const rows = await this.readModels.of(org, ActionRow).where(`row.state = 'executing'`).only('id').all();
    return rows.length;
  }
}
