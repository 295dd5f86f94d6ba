import type pg from 'pg';
import { ConnectorHealth, type ConnectorTest, type TestedPlace, TESTS_A_MINUTE } from '#libs/domain/connectors';
import { type ConnectorId, epochMsOf, type OrgId } from '#libs/domain/kernel';
import { answered } from '../postgres/index.js';

const MINUTE_MS = 60_000;
const PAGE_ROWS = 500;

/** Starts that count at $4: a clock that was set back must not hold tests back for longer than a minute. */
const COUNTED = `array(select s from unnest(health.starts_ms) s where s > $4::bigint - $5 and s < $4::bigint + $5 order by s)`;

const BEGIN = `
  insert into connectors.health as health (connector, org, name, starts_ms) values ($1, $2, $3, array[$4::bigint])
  on conflict (connector) do update set starts_ms = ${COUNTED} || $4::bigint
   where cardinality(${COUNTED}) < $6`;

interface PlaceRow {
  readonly connector: ConnectorId;
  readonly org: OrgId;
  readonly name: string;
}

/** Rows of `connectors.health`, one a connector. A relaxed pool will do: a result that is lost can be had again. */
export class PostgresConnectorHealth extends ConnectorHealth {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async begin({ connector, org, name }: TestedPlace, nowMs: number): Promise<number | null> {
    const { rowCount } = await answered(
      this.pool.query(BEGIN, [connector, org, name, nowMs, MINUTE_MS, TESTS_A_MINUTE]),
    );
    if (rowCount === 1) return null;
    return this.untilFree(connector, nowMs);
  }

  override async record(test: ConnectorTest): Promise<void> {
    await answered(
      this.pool.query(
        `update connectors.health set tested_ms = $2, status = $3, test = $4
          where connector = $1 and coalesce(tested_ms, 0) <= $2::bigint`,
        [test.connector, epochMsOf(test.testedAt), test.status, JSON.stringify(test)],
      ),
    );
  }

  override async lastOf(connectors: readonly ConnectorId[]): Promise<ReadonlyMap<ConnectorId, ConnectorTest>> {
    if (connectors.length === 0) return new Map();
    const { rows } = await answered(
      this.pool.query<{ connector: ConnectorId; test: string }>(
        `select connector, test from connectors.health where connector = any($1::text[]) and test is not null`,
        [connectors],
      ),
    );
    return new Map(rows.map(({ connector, test }) => [connector, JSON.parse(test) as ConnectorTest]));
  }

  override async failingIn(org: OrgId): Promise<readonly ConnectorTest[]> {
    const { rows } = await answered(
      this.pool.query<{ test: string }>(
        `select test from connectors.health where org = $1 and status = 'failing' order by tested_ms desc, connector
          limit ${PAGE_ROWS}`,
        [org],
      ),
    );
    return rows.map(({ test }) => JSON.parse(test) as ConnectorTest);
  }

  override async forget(connector: ConnectorId): Promise<void> {
    await answered(this.pool.query('delete from connectors.health where connector = $1', [connector]));
  }

  override async *testedBefore(epochMs: number): AsyncIterable<TestedPlace> {
    let last = '';
    for (;;) {
      const { rows }: { rows: PlaceRow[] } = await answered(
        this.pool.query<PlaceRow>(
          `select connector, org, name from connectors.health
            where connector > $1 and starts_ms[cardinality(starts_ms)] < $2 order by connector limit ${PAGE_ROWS}`,
          [last, epochMs],
        ),
      );
      yield* rows;
      last = rows.at(-1)?.connector ?? last;
      if (rows.length < PAGE_ROWS) return;
    }
  }

  /** Until the first of those that fill the minute has left it. */
  private async untilFree(connector: ConnectorId, nowMs: number): Promise<number> {
    const { rows } = await answered(
      this.pool.query<{ starts_ms: readonly string[] }>(
        'select starts_ms from connectors.health where connector = $1',
        [connector],
      ),
    );
    const filling = rows[0]?.starts_ms.at(-TESTS_A_MINUTE);
    return filling === undefined ? 1 : Math.min(MINUTE_MS, Math.max(1, Number(filling) + MINUTE_MS - nowMs));
  }
}
