import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { LiveConnector, ToolDescription } from '#libs/domain/connectors';
import { ConnectorRegistry } from '#libs/domain/gate';
import type { OrgId } from '#libs/domain/kernel';
import { ConnectorRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import type { Listed, PageRequest } from '../lists/listed.js';
import { ServedWords } from './served-words.js';

export interface ListedTool {
  readonly connector: LiveConnector;
  readonly tool: ToolDescription;
  readonly position: ToolPosition;
}

/** The connector's name and the place among its tools, which stand in no order of their own. */
export type ToolPosition = {
  readonly connector: string;
  readonly index: number;
};

/** GET /v1/tools: the tools of the live connectors by the connectors' names, each in the order of its config. */
export class ListTools extends Query<Listed<ListedTool>> {
  constructor(
    readonly org: OrgId,
    readonly page: PageRequest<ToolPosition>,
  ) {
    super();
  }
}

@QueryHandler(ListTools)
export class ListToolsHandler implements IQueryHandler<ListTools> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
    private readonly registry: ConnectorRegistry,
    private readonly words: ServedWords,
  ) {}

  async execute({ org, page: { limit, after } }: ListTools): Promise<Listed<ListedTool>> {
    const { lagEvents } = await this.waiter.catchUp(['connectors']);
    const tools: ListedTool[] = [];
    // A server may have named no tool yet, so connectors are read until the page is full or none is left.
    for (let from: { readonly name: string; readonly isShown: boolean } | null = startOf(after); ;) {
      const connectors = this.readModels.of(org, ConnectorRow);
      if (from) connectors.where(from.isShown ? 'row.name > :name' : 'row.name >= :name', { name: from.name });
      const { rows, hasMore } = await connectors.orderBy('name', 'ASC').page(limit + 2);
      tools.push(...rows.flatMap(({ folded }) => this.toolsOf(folded)).filter((tool) => isAfter(tool, after)));
      const last = rows.at(-1);
      if (!hasMore || last === undefined || tools.length > limit) break;
      from = { name: last.name, isShown: true };
    }
    return { rows: await this.words.of(tools.slice(0, limit)), hasMore: tools.length > limit, lagEvents };
  }

  private toolsOf(live: LiveConnector): readonly ListedTool[] {
    const tools = this.registry.driverOf(live.type)?.toolsOf(live) ?? [];
    return tools.map((tool, index) => ({ connector: live, tool, position: { connector: live.name, index } }));
  }
}

const startOf = (after: ToolPosition | null) => after && { name: after.connector, isShown: false };

const isAfter = ({ position }: ListedTool, after: ToolPosition | null): boolean =>
  after === null || position.connector !== after.connector || position.index > after.index;
