import type { AgentId, OrgId } from '#libs/domain/kernel';
import { AgentRow, DeedRow, ReadModels } from '#libs/infra/read-models';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caughtUp, CaughtUpProgress } from '../../../../test/support/caught-up.js';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { agentRow, deedRow, writeRows } from '../../../../test/support/given-rows.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import { FindDeed, FindDeedHandler } from './find-deed.query-handler.js';
import { filtersIn, type SentFilters } from '../lists/filters.js';
import { type DeedPosition, ListDeeds, ListDeedsHandler } from './list-deeds.query-handler.js';

const OTHER_AGENT = testId('agt', 2);
const OTHER_ORG = testId('org', 2);

describe('list of deeds', () => {
  let readModels: TestReadModels;
  let progress: CaughtUpProgress;
  let handler: ListDeedsHandler;

  beforeAll(async () => {
    readModels = await createTestReadModels();
    await writeRows(readModels.source, DeedRow, [
      deedRow(1),
      deedRow(2, { kind: 'admin', action: null, agent: null }),
      deedRow(3),
      deedRow(4, { kind: 'amendment', action: testId('act', 1) }),
      deedRow(5, { agent: OTHER_AGENT }),
      deedRow(6, { org: OTHER_ORG, seq: 1 }),
    ]);
    progress = new CaughtUpProgress();
    handler = new ListDeedsHandler(new ReadModels(readModels.source), caughtUp(progress));
  });
  afterAll(() => readModels.drop());

  const list = (
    sent: SentFilters<'listDeeds'>,
    options: { limit?: number; after?: DeedPosition | null; org?: OrgId; onlyAgent?: AgentId | null } = {},
  ) => {
    const { limit = 25, after = null, org = TEST_ORG, onlyAgent = null } = options;
    return handler.execute(new ListDeeds(org, filtersIn('listDeeds', sent), { limit, after }, onlyAgent));
  };

  it.each<[SentFilters<'listDeeds'>, number[]]>([
    [{}, [1, 2, 3, 4, 5]],
    [{ order: 'asc' }, [1, 2, 3, 4, 5]],
    [{ order: 'desc' }, [5, 4, 3, 2, 1]],
    [{ kind: 'admin' }, [2]],
    [{ kind: 'amendment,admin' }, [2, 4]],
    [{ action: testId('act', 1) }, [1, 4]],
    [{ action: testId('act', 9) }, []],
    [{ 'issued_at[gte]': testTime(2), 'issued_at[lt]': testTime(4) }, [2, 3]],
    [{ 'seq[gte]': 2, 'seq[lt]': 5 }, [2, 3, 4]],
    [{ 'seq[gte]': 0, 'seq[lt]': 2, order: 'desc' }, [1]],
    [{ 'seq[gte]': 5, 'seq[lt]': 5 }, []],
    [{ kind: 'action', 'issued_at[gte]': testTime(2), order: 'desc' }, [5, 3]],
  ])('answers %j in the order of seq', async (sent, expected) => {
    expect((await list(sent)).rows.map(({ row }) => row.seq)).toEqual(expected);
  });

  it.each([
    ['asc', [1, 2, 3, 4, 5]],
    ['desc', [5, 4, 3, 2, 1]],
  ])('shows every deed once in pages, %s', async (order, expected) => {
    const seen: number[] = [];
    for (let after: DeedPosition | null = null; ;) {
      const page = await list({ order }, { limit: 2, after });
      seen.push(...page.rows.map(({ row }) => row.seq));
      if (!page.hasMore) break;
      after = { seq: seen.at(-1)! };
    }
    expect(seen).toEqual(expected);
  });

  it('shows an organization only its own ledger, whatever the filters are', async () => {
    expect((await list({}, { org: OTHER_ORG })).rows).toMatchObject([{ row: { id: testId('deed', 6), seq: 1 } }]);
    expect((await list({ action: testId('act', 1) }, { org: OTHER_ORG })).rows).toEqual([]);
  });

  it("shows an agent's key only the deeds of its own actions, whatever the filters are", async () => {
    expect((await list({}, { onlyAgent: OTHER_AGENT })).rows.map(({ row }) => row.seq)).toEqual([5]);
    expect((await list({ kind: 'admin' }, { onlyAgent: OTHER_AGENT })).rows).toEqual([]);
  });

  it('names the agent of each action if the list of agents has it', async () => {
    await writeRows(readModels.source, AgentRow, [agentRow(1, { name: 'support' }), agentRow(9, { org: OTHER_ORG })]);
    expect((await list({})).rows.map(({ agentName }) => agentName)).toEqual([
      'support',
      null,
      'support',
      'support',
      null,
    ]);
    expect((await list({}, { org: OTHER_ORG })).rows.map(({ agentName }) => agentName)).toEqual([null]);
  });

  it('waits until its rows have caught up', async () => {
    expect(await list({})).toMatchObject({ lagEvents: 0 });
    expect(progress.waitedFor.at(-1)).toBe('deeds');
  });

  it('finds the place of a deed, only in its own organization', async () => {
    const finder = new FindDeedHandler(new ReadModels(readModels.source), caughtUp());
    expect(await finder.execute(new FindDeed(TEST_ORG, testId('deed', 3)))).toMatchObject({ seq: 3 });
    expect(await finder.execute(new FindDeed(TEST_ORG, testId('deed', 6)))).toBeNull();
    expect(await finder.execute(new FindDeed(TEST_ORG, testId('deed', 99)))).toBeNull();
  });
});
