import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { approvalOf } from '#libs/domain/gate';
import type { OrgId, Timestamp } from '#libs/domain/kernel';
import { ApprovalRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { type Conditions, narrow } from '../lists/conditions.js';
import type { FiltersOf } from '../lists/filters.js';
import type { Listed, PageRequest } from '../lists/listed.js';

/** Where a page ended: what runs out first stands first. */
export type ExpiryPosition = {
  readonly expiresAt: Timestamp;
  readonly id: string;
};

export const expiryPositionOf = ({ expiresAt, id }: ExpiryPosition): ExpiryPosition => ({ expiresAt, id });

/** GET /v1/approvals: by (expires_at, id), what runs out first on top. */
export class ListApprovals extends Query<Listed<ApprovalRow>> {
  constructor(
    readonly org: OrgId,
    readonly filters: FiltersOf<'listApprovals'>,
    readonly page: PageRequest<ExpiryPosition>,
  ) {
    super();
  }
}

@QueryHandler(ListApprovals)
export class ListApprovalsHandler implements IQueryHandler<ListApprovals> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  async execute({ org, filters, page }: ListApprovals): Promise<Listed<ApprovalRow>> {
    // Its rows are written with those of the actions.
    const { lagEvents } = await this.waiter.catchUp(['actions']);
    const rows = this.readModels.of(org, ApprovalRow);
    narrow(rows, filters, CONDITIONS);
    if (page.after) rows.where('(row.expiresAt, row.id) > (:expiresAt, :id)', expiryPositionOf(page.after));
    rows.orderBy('expiresAt', 'ASC').orderBy('id', 'ASC');
    return { ...(await rows.page(page.limit)), lagEvents };
  }
}

const CONDITIONS: Conditions<'listApprovals', ApprovalRow> = {
  status: (rows, statuses) => {
    // An index gives the rows of one value in the order of the list, but not those of several.
    if (statuses.length === 1) rows.where('row.status = :status', { status: statuses[0] });
    else rows.where('row.status = ANY(:statuses)', { statuses });
  },
  action: (rows, action) => rows.where('row.id = :approval', { approval: approvalOf(action) }),
  agent: (rows, agent) => rows.where('row.agent = :agent', { agent }),
  tool: (rows, tool) => rows.where('row.tool = :tool', { tool }),
};
