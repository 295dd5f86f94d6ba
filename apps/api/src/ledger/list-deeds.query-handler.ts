import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { AgentId, OrgId } from '#libs/domain/kernel';
import { AgentRow, DeedRow, ProjectionWaiter, ReadModels } from '#libs/infra/read-models';
import { type Conditions, narrow } from '../lists/conditions.js';
import type { FiltersOf } from '../lists/filters.js';
import type { Listed, PageRequest } from '../lists/listed.js';

// A type alias and not an interface, because only an alias is assignable to the JSON type of a cursor.
export type DeedPosition = {
  readonly seq: number;
};

export interface ListedDeed {
  readonly row: DeedRow;
  /**
   * The name of the agent whose action the deed is about. Null for an admin deed, and for an agent that the rows do not
   * have yet.
   */
  readonly agentName: string | null;
}

/** GET /v1/deeds: envelopes by `seq`, ascending unless asked otherwise. */
export class ListDeeds extends Query<Listed<ListedDeed>> {
  constructor(
    readonly org: OrgId,
    readonly filters: FiltersOf<'listDeeds'>,
    readonly page: PageRequest<DeedPosition>,
    /**
     * The agent, if the caller's key is an agent's: it sees the deeds of its own actions only. Null for every other
     * caller.
     */
    readonly onlyAgent: AgentId | null,
  ) {
    super();
  }
}

@QueryHandler(ListDeeds)
export class ListDeedsHandler implements IQueryHandler<ListDeeds> {
  constructor(
    private readonly readModels: ReadModels,
    private readonly waiter: ProjectionWaiter,
  ) {}

  async execute({ org, filters, page, onlyAgent }: ListDeeds): Promise<Listed<ListedDeed>> {
    const { lagEvents } = await this.waiter.catchUp(['deeds']);
    const { order } = filters;
    const rows = this.readModels.of(org, DeedRow);
    if (onlyAgent !== null) rows.where('row.agent = :onlyAgent', { onlyAgent });
    narrow(rows, filters, CONDITIONS);
    if (page.after) rows.where(order === 'asc' ? 'row.seq > :after' : 'row.seq < :after', { after: page.after.seq });
    const found = await rows.orderBy('seq', order === 'asc' ? 'ASC' : 'DESC').page(page.limit);
    const names = await this.namesOf(org, found.rows);
    const listed = found.rows.map((row) => ({ row, agentName: row.agent && (names.get(row.agent) ?? null) }));
    return { rows: listed, hasMore: found.hasMore, lagEvents };
  }

  /** Deeds hold their agent's id only, so names come from the list of agents; an agent's name never changes. */
  private async namesOf(org: OrgId, deeds: readonly DeedRow[]): Promise<ReadonlyMap<AgentId, string>> {
    const agents = [...new Set(deeds.flatMap(({ agent }) => agent ?? []))];
    if (agents.length === 0) return new Map();
    const named = await this.readModels
      .of(org, AgentRow)
      .where('row.id = ANY(:agents)', { agents })
      .only('id', 'name')
      .all();
    return new Map(named.map(({ id, name }) => [id, name]));
  }
}

const CONDITIONS: Conditions<'listDeeds', DeedRow, 'order'> = {
  kind: (rows, kinds) => rows.where('row.kind = ANY(:kinds)', { kinds }),
  action: (rows, action) => rows.where('row.action = :action', { action }),
  'issued_at[gte]': (rows, issuedFrom) => rows.where('row.issuedAt >= :issuedFrom', { issuedFrom }),
  'issued_at[lt]': (rows, issuedBefore) => rows.where('row.issuedAt < :issuedBefore', { issuedBefore }),
  'seq[gte]': (rows, seqFrom) => rows.where('row.seq >= :seqFrom', { seqFrom }),
  'seq[lt]': (rows, seqBefore) => rows.where('row.seq < :seqBefore', { seqBefore }),
};
