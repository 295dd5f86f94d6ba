import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { agentOfList, type LivingAgent, type NamedKey, parseNamedKey } from '#libs/domain/agents';
import type { OrgId } from '#libs/domain/kernel';
import { AgentRow, likeContaining, type OrgRows, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';
import { AgentUsage } from './agent-usage.js';
import type { AgentFilters } from './list-agents.filters.js';

export interface ListedAgentWithUsage {
  readonly agent: LivingAgent;
  /** Null where nobody asked. */
  readonly usage: JsonObject | null;
}

/** GET /v1/agents: newest first. */
export class ListAgents extends Query<Listed<ListedAgentWithUsage>> {
  constructor(
    readonly org: OrgId,
    readonly filters: AgentFilters,
    readonly page: PageRequest<TimePosition>,
  ) {
    super();
  }
}

@QueryHandler(ListAgents)
export class ListAgentsHandler implements IQueryHandler<ListAgents> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
    private readonly usage: AgentUsage,
  ) {}

  async execute({ org, filters, page }: ListAgents): Promise<Listed<ListedAgentWithUsage>> {
    const { lagEvents } = await this.waiter.catchUp(filters.withUsage ? ['agents', 'actions'] : ['agents']);
    const rows = this.readModels.of(org, AgentRow);
    narrow(rows, filters);
    const { rows: found, hasMore } = await newestFirst(rows, page);
    const agents = found.map(({ folded }) => agentOfList(folded));
    const usage = filters.withUsage ? await this.usage.of(org, agents) : null;
    return {
      rows: agents.map((agent) => ({ agent, usage: usage?.get(agent.agent) ?? null })),
      hasMore,
      lagEvents,
    };
  }
}

const narrow = (rows: OrgRows<AgentRow>, { statuses, text }: AgentFilters): void => {
  if (statuses !== null) rows.where('row.status = ANY(:statuses)', { statuses });
  if (text === null) return;
  const key = parseNamedKey(text);
  const ofKey = key === null ? '' : ' OR row.folded LIKE :key';
  rows.where(`row.name ILIKE :text OR row.id ILIKE :text${ofKey}`, {
    text: likeContaining(text),
    ...(key !== null && { key: likeContaining(memberOf(key)) }),
  });
};

/** As it stands in what a row holds of the agent's keys. */
const memberOf = (key: NamedKey): string => ('id' in key ? `"key":"${key.id}"` : `"prefix":"${key.prefix}"`);
