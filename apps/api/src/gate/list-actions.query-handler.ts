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
import { NamedKeys } from '../agents/named-keys.js';
import { type Conditions, narrow } from '../lists/conditions.js';
import type { FiltersOf } from '../lists/filters.js';
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';

type ActionFilters = FiltersOf<'listActions'>;

/** GET /v1/actions: newest first, by (created_at, id) descending. */
export class ListActions extends Query<Listed<ActionRow>> {
  constructor(
    readonly org: OrgId,
    readonly filters: ActionFilters,
    readonly page: PageRequest<TimePosition>,
    /** Set if an agent asks, which sees only its own actions. */
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
    private readonly keys: NamedKeys,
  ) {}

  async execute({ org, filters, page, onlyAgent }: ListActions): Promise<Listed<ActionRow>> {
    const { lagEvents } = await this.waiter.catchUp(['actions']);
    const rows = this.readModels.of(org, ActionRow);
    if (onlyAgent !== null) rows.where('row.agent = :onlyAgent', { onlyAgent });
    narrow(rows, filters, CONDITIONS);
    const areAnyLeft = (await this.narrowToKey(org, rows, filters)) && (await this.narrowToNames(org, rows, filters));
    if (!areAnyLeft) return { rows: [], hasMore: false, lagEvents };
    return { ...(await newestFirst(rows, page)), lagEvents };
  }

  /** @returns whether any action can match */
  private async narrowToKey(org: OrgId, rows: OrgRows<ActionRow>, { key: named }: ActionFilters): Promise<boolean> {
    if (named === null) return true;
    const key = await this.keys.idOf(org, named);
    if (key !== null) rows.where('row.key = :key', { key });
    return key !== null;
  }

  /**
   * Narrows by tool and search text. If the organization uses few tools, the pattern is compared with its tool
   * names and error codes first, and the rows are then found by exact value: a pattern without matches needs no search,
   * and one match can use an index.
   * @returns whether any action can match
   */
  private async narrowToNames(
    org: OrgId,
    rows: OrgRows<ActionRow>,
    { tool, q: text }: ActionFilters,
  ): Promise<boolean> {
    if (tool !== null && !tool.includes('*')) rows.where('row.tool = :tool', { tool });
    else if (tool !== null) {
      const glob = { operator: 'LIKE', pattern: likeGlob(tool), max: NAMES_MAX } as const;
      const tools = await this.readModels.valuesLike(org, ActionRow, 'tool', glob);
      if (tools?.length === 0) return false;
      if (tools === null) rows.where('row.tool LIKE :toolGlob', { toolGlob: glob.pattern });
      else oneOf(rows, 'tool', { globTools: tools });
    }
    if (text === null) return true;
    const containing = { operator: 'ILIKE', pattern: likeContaining(text), max: NAMES_MAX } as const;
    const [tools, codes] = await Promise.all([
      this.readModels.valuesLike(org, ActionRow, 'tool', containing),
      this.readModels.valuesLike(org, ActionRow, 'errorCode', containing),
    ]);
    if (tools === null || codes === null) {
      rows.where('row.tool ILIKE :text OR row.errorCode ILIKE :text', { text: containing.pattern });
    } else if (tools.length > 0 && codes.length > 0) {
      rows.where('row.tool = ANY(:textTools) OR row.errorCode = ANY(:textCodes)', {
        textTools: tools,
        textCodes: codes,
      });
    } else if (tools.length > 0) oneOf(rows, 'tool', { textTools: tools });
    else if (codes.length > 0) oneOf(rows, 'errorCode', { textCodes: codes });
    else return false;
    return true;
  }
}

/**
 * How many distinct names are compared with a pattern; that takes a few milliseconds. With more names, the rows
 * themselves are searched.
 */
const NAMES_MAX = 1_000;

/**
 * One value is compared with `=` and not with `ANY`, because an index gives the rows of one value in the order of the
 * list, but not those of several values.
 */
const oneOf = (
  rows: OrgRows<ActionRow>,
  property: keyof ActionRow,
  named: Readonly<Record<string, readonly string[]>>,
): void => {
  for (const [name, values] of Object.entries(named)) {
    const [first] = values;
    if (values.length === 1) rows.where(`row.${property} = :${name}`, { [name]: first });
    else rows.where(`row.${property} = ANY(:${name})`, named);
  }
};

const CONDITIONS: Conditions<'listActions', ActionRow, 'key' | 'tool' | 'q'> = {
  agent: (rows, agent) => rows.where('row.agent = :agent', { agent }),
  state: (rows, states) => oneOf(rows, 'state', { states }),
  decision: (rows, decisions) => oneOf(rows, 'decision', { decisions }),
  rule_id: (rows, ruleId) => rows.where('row.ruleId = :ruleId', { ruleId }),
  execution: (rows, executions) => oneOf(rows, 'execution', { executions }),
  verdict: (rows, verdicts) => oneOf(rows, 'verdict', { verdicts }),
  level: (rows, levels) => oneOf(rows, 'level', { levels }),
  on_behalf_of: (rows, onBehalfOf) => rows.where('row.onBehalfOf = :onBehalfOf', { onBehalfOf }),
  session: (rows, session) => rows.where('row.session = :session', { session }),
  shadow_differs: (rows) => rows.where('row.shadowDiffers'),
  'created_at[gte]': (rows, createdFrom) => rows.where('row.createdAt >= :createdFrom', { createdFrom }),
  'created_at[lt]': (rows, createdBefore) => rows.where('row.createdAt < :createdBefore', { createdBefore }),
};
