import type { AgentId, OrgId } from '#libs/domain/kernel';
import { ActionRow, ReadModels } from '#libs/infra/read-models';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caughtUp, CaughtUpProgress } from '../../../../test/support/caught-up.js';
import { TEST_ORG, testId, testTime } from '../../../../test/support/given-log.js';
import { actionRow, writeRows } from '../../../../test/support/given-rows.js';
import { noKeys } from '../../../../test/support/no-keys.js';
import { createTestReadModels, type TestReadModels } from '../../../../test/support/read-models.js';
import type { TimePosition } from '../lists/listed.js';
import { filtersIn, type SentFilters } from '../lists/filters.js';
import { ListActions, ListActionsHandler } from './list-actions.query-handler.js';

const OTHER_ORG = testId('org', 2);
const OTHER_AGENT = testId('agt', 2);
const OTHER_KEY = testId('key', 2);

/** Number 1 is the oldest. */
const ROWS: readonly ActionRow[] = [
  actionRow(1),
  actionRow(2, {
    tool: 'crm.delete_customer',
    decision: 'deny',
    ruleId: 'no-deletes',
    execution: null,
    verdict: null,
    level: null,
    errorCode: 'policy_denied',
  }),
  actionRow(3, {
    state: 'executing',
    execution: null,
    session: 'chat:7',
    verdict: null,
    level: null,
    deed: null,
    sealedAt: null,
  }),
  actionRow(4, { agent: OTHER_AGENT, key: OTHER_KEY, tool: 'pay.create_refund', verdict: 'MISMATCH', level: 'L1' }),
  actionRow(5, {
    tool: 'pay.Refund_50%',
    verdict: 'UNVERIFIABLE',
    errorCode: 'timeout',
    onBehalfOf: 'user_42',
    execution: 'unknown',
    shadowDiffers: true,
  }),
  // These have the same time, so the id decides their order.
  actionRow(6, { createdAt: testTime(6) }),
  actionRow(7, { createdAt: testTime(6), tool: 'files.a\0b' }),
  actionRow(8, { org: OTHER_ORG }),
];

describe('list of actions', () => {
  let readModels: TestReadModels;
  let progress: CaughtUpProgress;
  let handler: ListActionsHandler;

  beforeAll(async () => {
    readModels = await createTestReadModels();
    await writeRows(readModels.source, ActionRow, ROWS);
    progress = new CaughtUpProgress();
    handler = new ListActionsHandler(new ReadModels(readModels.source), caughtUp(progress), noKeys());
  });
  afterAll(() => readModels.drop());

  const list = (
    sent: SentFilters<'listActions'>,
    options: { limit?: number; after?: TimePosition | null; org?: OrgId; onlyAgent?: AgentId | null } = {},
  ) => {
    const { limit = 25, after = null, org = TEST_ORG, onlyAgent = null } = options;
    return handler.execute(new ListActions(org, filtersIn('listActions', sent), { limit, after }, onlyAgent));
  };
  const numbers = (rows: readonly ActionRow[]) => rows.map(({ id }) => ROWS.findIndex((row) => row.id === id) + 1);
  const found = async (...sent: Parameters<typeof list>) => numbers((await list(...sent)).rows);

  it('shows the newest first, and the greater id first if times are equal', async () => {
    expect(await found({})).toEqual([7, 6, 5, 4, 3, 2, 1]);
  });

  it('waits for its rows and says how far they are behind', async () => {
    expect(await list({})).toMatchObject({ hasMore: false, lagEvents: 0 });
    expect(progress.waitedFor.at(-1)).toBe('actions');
  });

  it('shows an organization only its own actions, whatever the filters are', async () => {
    expect(await found({}, { org: OTHER_ORG })).toEqual([8]);
    expect(await found({ q: 'crm' }, { org: OTHER_ORG })).toEqual([8]);
    expect(await found({ key: OTHER_KEY }, { org: OTHER_ORG })).toEqual([]);
    expect(await found({}, { org: testId('org', 3) })).toEqual([]);
  });

  it("shows an agent's key only its own actions, whatever the filters are", async () => {
    expect(await found({}, { onlyAgent: OTHER_AGENT })).toEqual([4]);
    expect(await found({ agent: testId('agt', 1) }, { onlyAgent: OTHER_AGENT })).toEqual([]);
    expect(await found({ q: 'ti' }, { onlyAgent: OTHER_AGENT })).toEqual([]);
    expect(await found({ key: testId('key', 1) }, { onlyAgent: OTHER_AGENT })).toEqual([]);
  });

  it.each<[SentFilters<'listActions'>, number[]]>([
    [{ agent: OTHER_AGENT }, [4]],
    [{ key: OTHER_KEY }, [4]],
    [{ key: OTHER_KEY, agent: testId('agt', 1) }, []],
    [{ key: testId('key', 1), decision: 'allow' }, [7, 6, 5, 3, 1]],
    [{ key: testId('key', 3) }, []],
    [{ key: 'k3y9prf0' }, []],
    [{ tool: 'crm.get_customer' }, [6, 3, 1]],
    [{ tool: 'crm.get' }, []],
    [{ tool: 'crm.*' }, [6, 3, 2, 1]],
    [{ tool: '*refund' }, [4]],
    [{ tool: '*.*_*' }, [6, 5, 4, 3, 2, 1]],
    [{ tool: 'CRM.*' }, []],
    [{ tool: 'pay.Refund_50%' }, [5]],
    [{ tool: '*50%' }, [5]],
    [{ tool: '%' }, []],
    [{ tool: '%*' }, []],
    [{ tool: 'pay.Refund?50%*' }, []],
    [{ tool: 'files.a\uFFFDb' }, [7]],
    [{ state: 'executing' }, [3]],
    [{ state: 'executing,sealed' }, [7, 6, 5, 4, 3, 2, 1]],
    [{ state: 'pending_approval' }, []],
    [{ decision: 'deny' }, [2]],
    [{ decision: 'deny,allow' }, [7, 6, 5, 4, 3, 2, 1]],
    [{ rule_id: 'no-deletes' }, [2]],
    [{ rule_id: 'no' }, []],
    [{ execution: 'unknown,failed' }, [5]],
    [{ execution: 'succeeded', rule_id: 'read-crm' }, [7, 6, 4, 1]],
    [{ session: 'chat:7' }, [3]],
    [{ session: 'chat:70' }, []],
    [{ verdict: 'MISMATCH,UNVERIFIABLE' }, [5, 4]],
    [{ level: 'L1' }, [4]],
    [{ on_behalf_of: 'user_42' }, [5]],
    [{ on_behalf_of: 'user_4' }, []],
    [{ 'created_at[gte]': testTime(5) }, [7, 6, 5]],
    [{ 'created_at[lt]': testTime(3) }, [2, 1]],
    [{ 'created_at[gte]': testTime(2), 'created_at[lt]': testTime(4) }, [3, 2]],
    [{ 'created_at[gte]': testTime(4), 'created_at[lt]': testTime(2) }, []],
    [{ q: 'refund' }, [5, 4]],
    [{ q: 'DENIED' }, [2]],
    [{ q: 'timeout' }, [5]],
    [{ q: '50%' }, [5]],
    [{ q: '%%' }, []],
    [{ q: '__' }, []],
    [{ q: '\\_' }, []],
    [{ tool: 'crm.*', decision: 'allow', state: 'sealed' }, [6, 1]],
    [{ tool: '*.*e*', q: 'refund' }, [5, 4]],
    [{ tool: '*delete*', q: 'pay' }, []],
    [{ q: 'ti' }, [5]],
    [{ shadow_differs: 'true' }, [5]],
    [{ shadow_differs: 'true', tool: 'crm.*' }, []],
  ])('answers %j', async (sent, expected) => {
    expect(await found(sent)).toEqual(expected);
  });

  it('finds the same by text and glob if an organization has more names than are compared first', async () => {
    const org = testId('org', 3);
    const many = Array.from({ length: 1_001 }, (_, index) =>
      actionRow(1_000 + index, { org, tool: `bulk.t${index}`, errorCode: index === 7 ? 'timeout' : null }),
    );
    await writeRows(readModels.source, ActionRow, many);
    const tools = async (sent: SentFilters<'listActions'>) => (await list(sent, { org })).rows.map(({ tool }) => tool);
    expect(await tools({ q: 'K.T100' })).toEqual(['bulk.t1000', 'bulk.t100']);
    expect(await tools({ q: 'meou' })).toEqual(['bulk.t7']);
    expect(await tools({ tool: '*t99*', q: 't999' })).toEqual(['bulk.t999']);
    expect(await tools({ q: 'nothing' })).toEqual([]);
  });

  it.each([1, 2, 3, 7])('shows every action once in pages of %i, also those of equal times', async (limit) => {
    const seen: number[] = [];
    let after: TimePosition | null = null;
    for (let pages = 0; pages < 20; pages += 1) {
      const page = await list({}, { limit, after });
      seen.push(...numbers(page.rows));
      expect(page.rows.length).toBe(page.hasMore ? limit : page.rows.length);
      if (!page.hasMore) break;
      after = page.rows.at(-1)!;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1]);
  });

  it('gives back rows with times as they are written', async () => {
    const [row] = (await list({ agent: OTHER_AGENT })).rows;
    expect(row).toEqual(ROWS[3]);
  });
});
