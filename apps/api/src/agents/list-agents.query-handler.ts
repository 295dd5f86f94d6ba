import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { agentOfList, type LivingAgent } from '#libs/domain/agents';
import { type AgentId, Clock, FoldedStreams, type OrgId, streamRef, timestampOf } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { AgentRow, likeContaining, type OrgRows, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';
import type { AgentFilters } from './list-agents.filters.js';
import { localDayAt } from './local-day.js';

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
    private readonly streams: FoldedStreams,
    private readonly clock: Clock,
  ) {}

  async execute({ org, filters, page }: ListAgents): Promise<Listed<ListedAgentWithUsage>> {
    const { lagEvents } = await this.waiter.catchUp(filters.withUsage ? ['agents', 'actions'] : ['agents']);
    const rows = this.readModels.of(org, AgentRow);
    narrow(rows, filters);
    const { rows: found, hasMore } = await newestFirst(rows, page);
    const agents = found.map(({ folded }) => agentOfList(folded));
    const usage = filters.withUsage ? await this.usageOf(org, agents) : null;
    return {
      rows: agents.map((agent) => ({ agent, usage: usage?.get(agent.agent) ?? null })),
      hasMore,
      lagEvents,
    };
  }

  /** What each has done today, as the organization counts days. */
  private async usageOf(org: OrgId, agents: readonly LivingAgent[]): Promise<ReadonlyMap<AgentId, JsonObject>> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    const timeZone = state.status === 'none' ? 'UTC' : state.timezone;
    const { day, sinceMs } = localDayAt(timeZone, this.clock.nowMs());
    const ids = agents.map(({ agent }) => agent);
    const activity = await this.readModels.activityOf(org, ids, timestampOf(sinceMs));
    return new Map(
      ids.map((id) => {
        const { calls, lastActionAt } = activity.get(id) ?? { calls: 0, lastActionAt: null };
        // No call has a price yet: amounts come with the connectors that can name one.
        return [id, { day, calls, spend: [], last_action_at: lastActionAt }];
      }),
    );
  }
}

const narrow = (rows: OrgRows<AgentRow>, { statuses, text }: AgentFilters): void => {
  if (statuses !== null) rows.where('row.status = ANY(:statuses)', { statuses });
  if (text !== null) rows.where('row.name ILIKE :text OR row.id ILIKE :text', { text: likeContaining(text) });
};
