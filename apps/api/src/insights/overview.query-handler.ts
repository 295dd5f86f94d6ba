import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { agentOfList } from '#libs/domain/agents';
import { Clock, DomainError, FoldedStreams, type OrgId, streamRef, timestampOf } from '#libs/domain/kernel';
import { CheckLedger } from '#libs/domain/ledger';
import { type LivingOrganization, organizationDecider } from '#libs/domain/people';
import { ActionRow, AgentRow, ApprovalRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { AgentUsage } from '../agents/agent-usage.js';
import { ATTENTION_MAX, attentionOf, EXPIRING_MS } from './attention.js';
import { bucketsOf, OVERVIEW_BY, totalsOf } from './overview-counts.js';
import { type OverviewWindow, windowAt, windowBefore, type WindowBounds } from './overview-window.js';

/** Document 1: so many agents, those that were active last. */
const AGENTS_SHOWN = 8;
/** Of the ledger's last deeds: a chain that broke lately is seen, and each takes but a tenth of a millisecond. */
const DEEDS_CHECKED = 100;

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
    readonly ledger: CheckLedger,
    readonly usage: AgentUsage,
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
    const [counts, pending, agents, attention] = await Promise.all([
      this.from.readModels.counted(org, { from: before.from, to: bounds.to }, OVERVIEW_BY),
      this.from.readModels.of(org, ApprovalRow).where(`row.status = 'pending'`).count(),
      this.agents(org),
      this.attention(organization, bounds),
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

  private async agents(org: OrgId): Promise<JsonObject[]> {
    const ids = await this.from.readModels.lastActive(org, AGENTS_SHOWN);
    const rows = await this.from.readModels.of(org, AgentRow).where('row.id = ANY(:ids)', { ids }).all();
    const known = new Map(rows.map(({ id, folded }) => [id, agentOfList(folded)]));
    const usage = await this.from.usage.of(org, [...known.values()]);
    return ids.flatMap((id) => {
      const agent = known.get(id);
      return agent ? [{ id, name: agent.name, status: agent.status, usage: usage.get(id) ?? null }] : [];
    });
  }

  private async attention(organization: LivingOrganization, { from, to }: WindowBounds) {
    const { org } = organization;
    const now = this.clock.nowMs();
    const soon = { now: timestampOf(now), soon: timestampOf(now + EXPIRING_MS) };
    const [mismatches, expiring, ledger] = await Promise.all([
      this.from.readModels
        .of(org, ActionRow)
        .where(`row.verdict = 'MISMATCH' AND row.createdAt >= :from AND row.createdAt < :to`, { from, to })
        .orderBy('createdAt', 'DESC')
        .orderBy('id', 'DESC')
        .page(ATTENTION_MAX),
      this.from.readModels
        .of(org, ApprovalRow)
        .where(`row.status = 'pending' AND row.expiresAt > :now AND row.expiresAt <= :soon`, soon)
        .orderBy('expiresAt', 'ASC')
        .orderBy('id', 'ASC')
        .page(ATTENTION_MAX),
      this.from.ledger.check(org, { last: DEEDS_CHECKED }, new AbortController().signal),
    ]);
    return attentionOf({ organization, ledger, mismatches: mismatches.rows, expiring: expiring.rows });
  }
}
