import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { AgentId, OrgId } from '#libs/domain/kernel';
import {
  ActionRow,
  likeContaining,
  likeGlob,
  type OrgRows,
  ProjectionWaiter,
  ReadModels,
} from '#libs/infra/read-models';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';
import type { ActionFilters } from './list-actions.filters.js';

/** GET /v1/actions: newest first, by (created_at, id) descending. */
export class ListActions extends Query<Listed<ActionRow>> {
  constructor(
    readonly org: OrgId,
    readonly filters: ActionFilters,
    readonly page: PageRequest<TimePosition>,
    /** Set for an agent's key, which sees its own actions alone. */
    readonly onlyAgent: AgentId | null,
  ) {
    super();
  }
}

@QueryHandler(ListActions)
export class ListActionsHandler implements IQueryHandler<ListActions> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  async execute({ org, filters, page, onlyAgent }: ListActions): Promise<Listed<ActionRow>> {
    const { lagEvents } = await this.waiter.catchUp(['actions']);
    // No policy runs in shadow yet, so no decision differs from one.
    if (filters.isShadowDifferent) return { rows: [], hasMore: false, lagEvents };
    const rows = this.readModels.of(org, ActionRow);
    if (onlyAgent !== null) rows.where('row.agent = :onlyAgent', { onlyAgent });
    narrow(rows, filters);
    return { ...(await newestFirst(rows, page)), lagEvents };
  }
}

const narrow = (rows: OrgRows<ActionRow>, filters: ActionFilters): void => {
  const { agent, tool, onBehalfOf, createdFrom, createdBefore, text } = filters;
  if (agent !== null) rows.where('row.agent = :agent', { agent });
  if (tool !== null && tool.includes('*')) rows.where('row.tool LIKE :toolGlob', { toolGlob: likeGlob(tool) });
  else if (tool !== null) rows.where('row.tool = :tool', { tool });
  narrowToLists(rows, filters);
  if (onBehalfOf !== null) rows.where('row.onBehalfOf = :onBehalfOf', { onBehalfOf });
  if (createdFrom !== null) rows.where('row.createdAt >= :createdFrom', { createdFrom });
  if (createdBefore !== null) rows.where('row.createdAt < :createdBefore', { createdBefore });
  if (text !== null) {
    rows.where('row.tool ILIKE :text OR row.errorCode ILIKE :text', { text: likeContaining(text) });
  }
};

const narrowToLists = (rows: OrgRows<ActionRow>, { states, decisions, verdicts, levels }: ActionFilters): void => {
  if (states !== null) rows.where('row.state = ANY(:states)', { states });
  if (decisions !== null) rows.where('row.decision = ANY(:decisions)', { decisions });
  if (verdicts !== null) rows.where('row.verdict = ANY(:verdicts)', { verdicts });
  if (levels !== null) rows.where('row.level = ANY(:levels)', { levels });
};
