import { ActionRow, ReadModels, readModelSource } from '#libs/infra/read-models';
import type { DataSource, Logger as QueryLogger } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caughtUp } from '../../../../test/support/caught-up.js';
import { TEST_ORG, testId } from '../../../../test/support/given-log.js';
import { actionRow, writeRows } from '../../../../test/support/given-rows.js';
import { noKeys } from '../../../../test/support/no-keys.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import type { TimePosition } from '../lists/listed.js';
import { filtersIn, type SentFilters } from '../lists/filters.js';
import { ListActions, ListActionsHandler } from './list-actions.query-handler.js';

const ROWS = 100_000;
const PART = 20_000;
const LIMIT = 25;
/** The most 8 KiB pages of the database that one page of the list may read, wherever in the list it is. */
const PAGES_MAX = 200;
const TOOLS = 100;
const RARE_KEY = testId('key', 50);
/** Database pages that it takes to find the next name in an index. */
const PAGES_OF_A_NAME = 5;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const ignore = (): void => undefined;

describe('list of actions, 100,000 of them', () => {
  let readModels: TestReadModels;
  let source: DataSource;
  let handler: ListActionsHandler;
  let queries: { sql: string; parameters: unknown[] | undefined }[] = [];

  beforeAll(async () => {
    readModels = await createTestReadModels();
    await fill(readModels.source);
    const queryLogger: QueryLogger = {
      logQuery: (sql, parameters) => void queries.push({ sql, parameters: parameters as unknown[] | undefined }),
      logQueryError: ignore,
      logQuerySlow: ignore,
      logSchemaBuild: ignore,
      logMigration: ignore,
      log: ignore,
    };
    source = await readModelSource({
      connectionString: readModels.connectionString,
      applicationName: 'list plan spec',
      maxConnections: 1,
      statementTimeoutMs: 30_000,
      isDurable: false,
      onError: ignore,
      queryLogger,
    }).initialize();
    handler = new ListActionsHandler(new ReadModels(source), caughtUp(), noKeys());
  });
  afterAll(async () => {
    await source.destroy();
    await readModels.drop();
  });

  /**
   * Two organizations, ten agents, twenty keys, a hundred tools. One action in a thousand is unsealed, one failed, and
   * one is on somebody's behalf.
   */
  const fill = async (target: DataSource): Promise<void> => {
    await writeRows(target, ActionRow, [actionRow(1)]);
    // In parts, because every row updates all indexes and a statement may take a few seconds only.
    for (let first = 100; first < 2 * ROWS + 100; first += PART) await fillPart(target, first);
    await target.query('VACUUM ANALYZE read_models.actions');
  };
  const fillPart = async (target: DataSource, first: number): Promise<void> => {
    await target.query(`
      INSERT INTO read_models.actions
      SELECT 'act_' || lpad(n::text, 26, '0'), CASE n % 2 WHEN 0 THEN org ELSE '${testId('org', 2)}' END,
             'agt_' || lpad((n / 2 % 10)::text, 26, '0'), 'tool' || (n / 2 % ${TOOLS}) || '.get',
             CASE n % 1000 WHEN 500 THEN 'executing' ELSE 'sealed' END,
             decision, verdict, level, CASE n % 1000 WHEN 700 THEN 'policy_denied' END, CASE n % 1000 WHEN 600 THEN 'user_42' END,
             created_at + n * interval '1 second', deed, sealed_at, '{}',
             CASE n % 1000 WHEN 800 THEN 'rare' ELSE 'common' END, CASE n % 1000 WHEN 900 THEN 'chat:7' END,
             CASE n % 1000 WHEN 400 THEN 'unknown' ELSE 'succeeded' END, n % 1000 = 300,
             CASE n % 1000 WHEN 200 THEN '${RARE_KEY}' ELSE 'key_' || lpad((n / 2 % 20)::text, 26, '0') END
        FROM read_models.actions, generate_series(${first}, ${first + PART - 1}) n
       WHERE id = '${actionRow(1).id}'`);
  };

  const planOf = async (
    sent: SentFilters<'listActions'>,
    after: TimePosition | null = null,
  ): Promise<{ nodes: readonly PlanNode[]; found: number; pages: number }> => {
    queries = [];
    const { rows } = await handler.execute(
      new ListActions(TEST_ORG, filtersIn('listActions', sent), { limit: LIMIT, after }, null),
    );
    const roots: PlanNode[] = [];
    for (const { sql, parameters } of [...queries]) {
      const [answer] = await source.query<[{ 'QUERY PLAN': [{ Plan: PlanNode }] }]>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
        parameters,
      );
      roots.push(answer['QUERY PLAN'][0].Plan);
    }
    const pages = roots.reduce((sum, root) => sum + root['Shared Hit Blocks'] + root['Shared Read Blocks'], 0);
    return { nodes: nodesOf(roots.at(-1)!), found: rows.length, pages };
  };
  /**
   * The position at which the 1,000th page begins, from the database, because paging there would take a thousand
   * queries.
   */
  const page1000 = async (): Promise<TimePosition> => {
    const [row] = await readModels.source.manager.find(ActionRow, {
      where: { org: TEST_ORG },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip: 999 * LIMIT - 1,
      take: 1,
    });
    return row!;
  };
  const expectIndexed = ({ nodes, found, pages }: Awaited<ReturnType<typeof planOf>>, index: string): void => {
    expect(found).toBe(LIMIT);
    expect(nodes.map((node) => node['Node Type'])).toEqual(['Limit', 'Index Scan']);
    expect(nodes[1]).toMatchObject({ 'Index Name': index, 'Actual Rows': LIMIT + 1 });
    expect(pages).toBeLessThan(PAGES_MAX + TOOLS * PAGES_OF_A_NAME);
  };

  it('reads the first page from the index by time', async () => {
    expectIndexed(await planOf({}), 'actions_by_time');
  });

  it('reads the 1,000th page from the same index, and no more of it', async () => {
    expectIndexed(await planOf({}, await page1000()), 'actions_by_time');
  });

  it.each<[string, SentFilters<'listActions'>]>([
    ['actions_by_agent', { agent: testId('agt', 3) }],
    ['actions_by_key', { key: testId('key', 3) }],
    ['actions_by_key', { key: RARE_KEY }],
    ['actions_by_tool', { tool: 'tool7.get' }],
    ['actions_by_tool', { tool: '*ool7.*' }],
    ['actions_by_tool', { q: 'OOL7.G' }],
    ['actions_by_error', { q: 'policy' }],
    ['actions_on_behalf_of', { on_behalf_of: 'user_42' }],
    ['actions_by_rule', { rule_id: 'rare' }],
    ['actions_by_session', { session: 'chat:7' }],
    ['actions_by_execution', { execution: 'unknown' }],
    ['actions_shadow_differs', { shadow_differs: 'true' }],
    ['actions_unsealed', { state: 'executing' }],
    ['actions_unsealed', { state: 'pending_approval,executing,witnessing,recorded' }],
    ['actions_by_time', { 'created_at[lt]': '2026-10-02T00:00:00Z' }],
  ])('reads its rows from %s for %j', async (index, sent) => {
    expectIndexed(await planOf(sent), index);
  });

  it('reads a page far down of a filtered list from the index of the filter', async () => {
    expectIndexed(await planOf({ agent: testId('agt', 0) }, await page1000()), 'actions_by_agent');
  });

  // Nothing matches; only the names of a hundred tools are read.
  it.each<SentFilters<'listActions'>>([
    { tool: '*l*l*g' },
    { tool: `*${'o'.repeat(190)}*` },
    { q: 'oooooooooooooooo' },
    { q: '%%%%' },
    { decision: 'deny' },
    { verdict: 'MISMATCH' },
    { level: 'L2' },
    { rule_id: 'nobodys' },
    { session: 'nobodys' },
    { execution: 'failed' },
    { key: testId('key', 60) },
    { agent: testId('agt', 3), key: RARE_KEY },
  ])('looks at few rows for %j, which nothing matches', async (sent) => {
    const { found, pages } = await planOf(sent);
    expect(found).toBe(0);
    expect(pages).toBeLessThan(PAGES_MAX + TOOLS * PAGES_OF_A_NAME);
  });
});
