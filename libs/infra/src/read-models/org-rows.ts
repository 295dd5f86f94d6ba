import { type AgentId, DomainError, type OrgId, type Timestamp } from '#libs/domain/kernel';
import type { WitnessedSize } from '#libs/domain/ledger';
import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { sqlStateOf } from '../postgres/index.js';
import { AgentRow } from './agents/agent.row.js';
import { storedText } from './columns.js';
import { ActionRow } from './gate/action.row.js';
import { driverErrorOf, translateRowError } from './row-errors.js';
import { type ActionCount, type CountedBy, countedActions, type CountedPeriod } from './insights/hourly-reads.js';
import { countedInParts, type PartCount } from './insights/part-reads.js';
import { witnessedSize } from './ledger/witnessed-size.js';
import type { RowType } from './row-transaction.js';

/** Rows that belong to an organization. */
export interface OrgRow {
  readonly org: OrgId;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

const STATEMENT_TIMED_OUT = '57014';

/**
 * The only door to the rows for whoever answers requests: a query begins with an organization, and no part added later
 * can widen it (rule API-17).
 */
export class ReadModels {
  constructor(private readonly source: DataSource) {}

  /** Rows of `rowType`, called `row` in conditions, that belong to `org`. */
  of<Row extends OrgRow>(org: OrgId, rowType: RowType<Row>): OrgRows<Row> {
    return new OrgRows(
      this.source.createQueryBuilder<Row>(rowType, 'row').where('row.org = :org', { org: storedText(org) }),
    );
  }

  /**
   * The values that a text property has in the rows of `org` and that match a pattern; null where it has more than `max` values
   * in all. Costs some microseconds for each value, however many rows have it: an index must begin with (org, property).
   * @throws {DomainError} `timeout` @throws {StoreUnavailable} the database did not answer
   */
  async valuesLike<Row extends OrgRow>(
    org: OrgId,
    rowType: RowType<Row>,
    property: keyof Row & string,
    { operator, pattern, max }: { readonly operator: 'LIKE' | 'ILIKE'; readonly pattern: string; readonly max: number },
  ): Promise<readonly string[] | null> {
    const { tablePath, columns } = this.source.getMetadata(rowType);
    const column = columns.find(({ propertyName }) => propertyName === property)?.databaseName ?? property;
    const values = [storedText(org), storedText(pattern), max];
    const walk = this.source.query<[Walked]>(matchingValues(tablePath, column, operator), values);
    const [{ matching, number }] = await found(walk);
    return number > max ? null : matching;
  }

  /**
   * How many actions were submitted in a period, by some of their properties. Costs a step for each row of its hours,
   * however many actions they count.
   * @throws {DomainError} `timeout` @throws {StoreUnavailable} the database did not answer
   */
  counted<By extends CountedBy>(
    org: OrgId,
    period: CountedPeriod,
    by: readonly By[],
  ): Promise<readonly ActionCount<By>[]> {
    return found(countedActions(this.source, org, period, by));
  }

  /**
   * The same of parts of hours, which hourly counts cannot tell apart. Costs a step for each action in them.
   * @throws {DomainError} `timeout` @throws {StoreUnavailable} the database did not answer
   */
  countedInParts<By extends CountedBy>(
    org: OrgId,
    parts: readonly CountedPeriod[],
    by: readonly By[],
  ): Promise<readonly PartCount<By>[]> {
    return found(countedInParts(this.source, org, parts, by));
  }

  /**
   * What agents of `org` have done since an instant. Costs a step for each action of that time.
   * @throws {DomainError} `timeout` @throws {StoreUnavailable} the database did not answer
   */
  async activityOf(
    org: OrgId,
    agents: readonly AgentId[],
    since: Timestamp,
  ): Promise<ReadonlyMap<AgentId, AgentActivity>> {
    const { tablePath } = this.source.getMetadata(ActionRow);
    const counting = this.source.query<AgentCount[]>(activityByAgent(tablePath), [storedText(org), agents, since]);
    const counted = await found(counting);
    return new Map(
      counted.map(({ agent, calls, last_action_at: at }) => [
        agent,
        { calls, lastActionAt: at?.toISOString() ?? null },
      ]),
    );
  }

  /**
   * The size of a checkpoint that enough witnesses have cosigned; null where there is none. Costs a step for each cosignature
   * between that and where the walk begins.
   * @throws {DomainError} `timeout` @throws {StoreUnavailable} the database did not answer
   */
  witnessedSize(org: OrgId, wanted: WitnessedSize): Promise<number | null> {
    return found(witnessedSize(this.source, org, wanted));
  }

  /**
   * The agents of `org` that submitted something last, the last one first. Costs a step for each agent.
   * @throws {DomainError} `timeout` @throws {StoreUnavailable} the database did not answer
   */
  async lastActive(org: OrgId, count: number): Promise<readonly AgentId[]> {
    const { tablePath: agents } = this.source.getMetadata(AgentRow);
    const { tablePath: actions } = this.source.getMetadata(ActionRow);
    const asking = this.source.query<{ id: AgentId }[]>(
      `SELECT id FROM (SELECT id, (SELECT created_at FROM ${actions} AS made WHERE made.org = $1 AND made.agent = known.id
          ORDER BY created_at DESC LIMIT 1) AS last_at FROM ${agents} AS known WHERE org = $1) AS active
        WHERE last_at IS NOT NULL ORDER BY last_at DESC, id LIMIT $2`,
      [storedText(org), count],
    );
    return (await found(asking)).map(({ id }) => id);
  }
}

/** What an agent has done lately. */
export interface AgentActivity {
  /** Actions that it submitted, refused ones included. */
  readonly calls: number;
  /** When it submitted its last one, however long ago; null where there is none. */
  readonly lastActionAt: Timestamp | null;
}

/** Both walk `actions_by_agent`: the first over the entries of the period, the second to the last one. */
const activityByAgent = (table: string): string => `
  SELECT asked.agent,
    (SELECT count(*)::integer FROM ${table} AS made
      WHERE made.org = $1 AND made.agent = asked.agent AND made.created_at >= $3::timestamptz) AS calls,
    (SELECT made.created_at FROM ${table} AS made WHERE made.org = $1 AND made.agent = asked.agent
      ORDER BY made.created_at DESC LIMIT 1) AS last_action_at
  FROM unnest($2::text[]) AS asked (agent)`;

interface AgentCount {
  readonly agent: AgentId;
  readonly calls: number;
  readonly last_action_at: Date | null;
}

interface Walked {
  readonly matching: readonly string[];
  /** Of all values, matching or not. */
  readonly number: number;
}

/** A walk over an index that looks for the next value, not for the next row. */
const matchingValues = (table: string, column: string, operator: 'LIKE' | 'ILIKE'): string => `
  WITH RECURSIVE found (value, number) AS (
    (SELECT ${column}, 1 FROM ${table} WHERE org = $1 AND ${column} IS NOT NULL ORDER BY ${column} LIMIT 1)
    UNION ALL
    SELECT (SELECT ${column} FROM ${table} WHERE org = $1 AND ${column} > found.value ORDER BY ${column} LIMIT 1), number + 1
      FROM found WHERE found.value IS NOT NULL AND number <= $3)
  SELECT coalesce(array_agg(value) FILTER (WHERE value ${operator} $2), '{}') AS matching, count(value)::integer AS number
    FROM found`;

/** A query under construction. Every part narrows it. */
export class OrgRows<Row extends OrgRow> {
  constructor(private readonly query: SelectQueryBuilder<Row>) {}

  /**
   * And this too. `condition` is SQL over properties (`row.createdAt`) with named parameters.
   * Never build it from what a caller sent: values are parameters.
   */
  where(condition: string, parameters: ObjectLiteral = {}): this {
    const stored = Object.entries(parameters).map(([name, value]: [string, unknown]) => [name, storedValue(value)]);
    this.query.andWhere(`(${condition})`, Object.fromEntries(stored) as ObjectLiteral);
    return this;
  }

  orderBy(property: keyof Row & string, direction: 'ASC' | 'DESC'): this {
    this.query.addOrderBy(`row.${property}`, direction);
    return this;
  }

  /** Only these properties are read; the others of the row objects are missing. */
  only(...properties: readonly (keyof Row & string)[]): this {
    this.query.select(properties.map((property) => `row.${property}`));
    return this;
  }

  /**
   * The first `limit` rows.
   * @throws {DomainError} `timeout` when the filters leave too much to search
   * @throws {StoreUnavailable} the database did not answer
   */
  async page(limit: number): Promise<Page<Row>> {
    const rows = await found(this.query.limit(limit + 1).getMany());
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  /** All of them: only where their number is bounded. */
  async all(): Promise<readonly Row[]> {
    return found(this.query.getMany());
  }

  /** How many there are. Costs a step for each. */
  async count(): Promise<number> {
    return found(this.query.getCount());
  }

  async first(): Promise<Row | null> {
    return (await this.page(1)).rows[0] ?? null;
  }
}

const storedValue = (value: unknown): unknown => {
  if (typeof value === 'string') return storedText(value);
  return Array.isArray(value) ? value.map(storedValue) : value;
};

const found = async <Result>(query: Promise<Result>): Promise<Result> => {
  try {
    return await query;
  } catch (error) {
    const cause = driverErrorOf(error);
    if (sqlStateOf(cause) !== STATEMENT_TIMED_OUT) throw translateRowError(error);
    throw new DomainError('timeout', {
      message: 'The list took too long to search. Narrow it, for example by created_at or agent, and ask again.',
      cause,
    });
  }
};
