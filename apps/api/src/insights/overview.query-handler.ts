import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { agentOfList, type LivingAgent } from '#libs/domain/agents';
import { Clock, DomainError, FoldedStreams, type OrgId, streamRef } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { AgentRow, ApprovalRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { AgentUsage } from '../agents/agent-usage.js';
import { AttentionReader } from './attention-reader.js';
import { bucketsOf, OVERVIEW_BY, totalsOf } from './overview-counts.js';
import { type OverviewWindow, windowAt, windowBefore } from './overview-window.js';

/** So many agents, those that were active last (rule INSIGHT-2). */
const AGENTS_SHOWN = 8;

export interface ReadAnswer {
  readonly answer: JsonObject;
  /** Events that the rows do not tell yet. */
  readonly lagEvents: number;
}

/** GET /v1/overview: what happened in a window, and what needs a person now. */
export class ReadOverview extends Query<ReadAnswer> {
  constructor(
    readonly org: OrgId,
    readonly window: OverviewWindow,
  ) {
    super();
  }
}

/** Where the overview reads. */
export class OverviewSources {
  constructor(
    readonly readModels: ReadModels,
    readonly waiter: ProjectionWaiter,
    readonly streams: FoldedStreams,
    readonly usage: AgentUsage,
    readonly attention: AttentionReader,
  ) {}
}

@QueryHandler(ReadOverview)
export class ReadOverviewHandler implements IQueryHandler<ReadOverview> {
  constructor(
    private readonly from: OverviewSources,
    private readonly clock: Clock,
  ) {}

  async execute({ org, window }: ReadOverview): Promise<ReadAnswer> {
    const { lagEvents } = await this.from.waiter.catchUp(['actions', 'agents']);
    const { state: organization } = await this.from.streams.load(streamRef(organizationDecider, org));
    if (organization.status === 'none') throw new DomainError('not_found');
    const bounds = windowAt(window, this.clock.nowMs());
    const before = windowBefore(window, bounds);
    const active = await this.lastActive(org);
    const [counts, pending, agents, attention] = await Promise.all([
      this.from.readModels.counted(org, { from: before.from, to: bounds.to }, OVERVIEW_BY),
      this.from.readModels.of(org, ApprovalRow).where(`row.status = 'pending'`).count(),
      this.agents(org, active),
      this.from.attention.read(organization, bounds, active),
    ]);
    const { actions, ...totals } = totalsOf(counts, bounds);
    const answer = {
      object: 'overview',
      window,
      from: bounds.from,
      to: bounds.to,
      actions: { ...actions, buckets: bucketsOf(counts, bounds) },
      ...totals,
      approvals: { pending },
      previous: { from: before.from, to: before.to, ...totalsOf(counts, before) },
      agents,
      attention,
    };
    return { answer, lagEvents };
  }

  private async lastActive(org: OrgId): Promise<readonly LivingAgent[]> {
    const ids = await this.from.readModels.lastActive(org, AGENTS_SHOWN);
    const rows = await this.from.readModels.of(org, AgentRow).where('row.id = ANY(:ids)', { ids }).all();
    const known = new Map(rows.map(({ id, folded }) => [id, agentOfList(folded)]));
    return ids.flatMap((id) => known.get(id) ?? []);
  }

  private async agents(org: OrgId, active: readonly LivingAgent[]): Promise<JsonObject[]> {
    const usage = await this.from.usage.of(org, active);
    return active.map(({ agent: id, name, status }) => ({ id, name, status, usage: usage.get(id) ?? null }));
  }
}
