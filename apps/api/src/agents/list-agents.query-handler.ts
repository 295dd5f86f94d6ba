import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { agentOfList, type LivingAgent, type NamedKey, parseNamedKey } from '#libs/domain/agents';
import type { OrgId } from '#libs/domain/kernel';
import { AgentRow, likeContaining, type OrgRows, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { type Conditions, narrow } from '../lists/conditions.js';
import type { FiltersOf } from '../lists/filters.js';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';
import { AgentUsage } from './agent-usage.js';

export interface ListedAgentWithUsage {
  readonly agent: LivingAgent;
  /** Null where nobody asked. */
  readonly usage: JsonObject | null;
}

/** GET /v1/agents: newest first. */
export class ListAgents extends Query<Listed<ListedAgentWithUsage>> {
  constructor(
    readonly org: OrgId,
    readonly filters: FiltersOf<'listAgents'>,
    readonly page: PageRequest<TimePosition>,
    readonly withUsage: boolean,
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

  async execute({ org, filters, page, withUsage }: ListAgents): Promise<Listed<ListedAgentWithUsage>> {
    const { lagEvents } = await this.waiter.catchUp(withUsage ? ['agents', 'actions'] : ['agents']);
    const rows = this.readModels.of(org, AgentRow);
    narrow(rows, filters, CONDITIONS);
    const { rows: found, hasMore } = await newestFirst(rows, page);
    const agents = found.map(({ folded }) => agentOfList(folded));
    const usage = withUsage ? await this.usage.of(org, agents) : null;
    return {
      rows: agents.map((agent) => ({ agent, usage: usage?.get(agent.agent) ?? null })),
      hasMore,
      lagEvents,
    };
  }
}

const CONDITIONS: Conditions<'listAgents', AgentRow> = {
  status: (rows, statuses) => rows.where('row.status = ANY(:statuses)', { statuses }),
  // In the name or the id; or it names one of the keys.
  q: (rows, text) => matchText(rows, text),
};

const matchText = (rows: OrgRows<AgentRow>, text: string): void => {
  const key = parseNamedKey(text);
  const ofKey = key === null ? '' : ' OR row.folded LIKE :key';
  rows.where(`row.name ILIKE :text OR row.id ILIKE :text${ofKey}`, {
    text: likeContaining(text),
    ...(key !== null && { key: likeContaining(memberOf(key)) }),
  });
};

/** As it stands in what a row holds of the agent's keys. */
const memberOf = (key: NamedKey): string => ('id' in key ? `"key":"${key.id}"` : `"prefix":"${key.prefix}"`);
