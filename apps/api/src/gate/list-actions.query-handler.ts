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
import { type Listed, newestFirst, type PageRequest, type TimePosition } from '../lists/listed.js';
import type { ActionFilters } from './list-actions.filters.js';

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
    narrow(rows, filters);
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
   * Narrows by tool glob and search text. If the organization uses few tools, the pattern is compared with its tool
   * names and error codes first, and the rows are then found by exact value: a pattern without matches needs no search,
   * and one match can use an index.
   * @returns whether any action can match
   */
  private async narrowToNames(org: OrgId, rows: OrgRows<ActionRow>, { tool, text }: ActionFilters): Promise<boolean> {
    if (tool !== null && tool.includes('*')) {
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

const narrow = (rows: OrgRows<ActionRow>, filters: ActionFilters): void => {
  const { agent, tool, ruleId, onBehalfOf, session, isShadowDifferent, createdFrom, createdBefore } = filters;
  if (agent !== null) rows.where('row.agent = :agent', { agent });
  if (tool !== null && !tool.includes('*')) rows.where('row.tool = :tool', { tool });
  narrowToLists(rows, filters);
  if (ruleId !== null) rows.where('row.ruleId = :ruleId', { ruleId });
  if (onBehalfOf !== null) rows.where('row.onBehalfOf = :onBehalfOf', { onBehalfOf });
  if (session !== null) rows.where('row.session = :session', { session });
  if (isShadowDifferent) rows.where('row.shadowDiffers');
  if (createdFrom !== null) rows.where('row.createdAt >= :createdFrom', { createdFrom });
  if (createdBefore !== null) rows.where('row.createdAt < :createdBefore', { createdBefore });
};

const narrowToLists = (rows: OrgRows<ActionRow>, filters: ActionFilters): void => {
  const { states, decisions, executions, verdicts, levels } = filters;
  if (states !== null) oneOf(rows, 'state', { states });
  if (decisions !== null) oneOf(rows, 'decision', { decisions });
  if (executions !== null) oneOf(rows, 'execution', { executions });
  if (verdicts !== null) oneOf(rows, 'verdict', { verdicts });
  if (levels !== null) oneOf(rows, 'level', { levels });
};
