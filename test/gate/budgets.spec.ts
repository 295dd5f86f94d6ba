import { ChangeAgent } from '#libs/domain/agents/handlers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { actionDecider } from '#libs/domain/gate';
import { DomainError, streamRef, timestampOf } from '#libs/domain/kernel';
import { ApprovalScene } from '../support/approval-scene.js';
import { BudgetScene, CALLS_A_DAY, ended, EUR_A_DAY, pay, policyWith, recordedAs } from '../support/budget-scene.js';
import type { GateBench } from '../support/gate-bench.js';
import { rejected } from '../support/thrown.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

let upstream: Upstream;
let scene: BudgetScene;
let bench: GateBench;
/** The status that the upstream answers with. */
let status = 200;

beforeAll(async () => {
  upstream = await startUpstream((_seen, response) => void response.writeHead(status).end('{}'));
  scene = await BudgetScene.open();
});
afterAll(async () => {
  await scene.close();
  await upstream.close();
});
beforeEach(async () => {
  status = 200;
  bench = await scene.bench(upstream.baseUrl);
});
afterEach(() => bench.close());

/**
 * What is charged to the budgets of the agent and of the policy, by budget and unit. Checks that the counters agree.
 */
const used = async (): Promise<Readonly<Record<string, number>>> => {
  await scene.settle();
  const { rows } = await scene.tables.pool.query<{ name: string; used: string }>(
    `select split_part(budget, '/', 2) || ' ' || unit as name, sum(amount) as used from gate.budget_reservations
      where budget like $1 || '/%' or budget like $2 || '/%' group by 1`,
    [bench.agent, policy],
  );
  for (const { name, used: counted, summed } of await scene.tables.counters())
    expect([name, counted]).toEqual([name, summed]);
  return Object.fromEntries(rows.map(({ name, used: sum }) => [name, Number(sum)]));
};
let policy = '';
const enforce = async (budgets: readonly string[], decision?: string): Promise<void> => {
  policy = await bench.enforce(policyWith(budgets, decision));
};
const setAgentBudgets = (budgets: object): Promise<unknown> =>
  bench.commands.execute(new ChangeAgent(bench.org, bench.agent, { budgets }, bench.metadata()));

describe('a call that a budget has no room for', () => {
  it('is refused, and the refusal is sealed like every other: which budget, and until when', async () => {
    await enforce(CALLS_A_DAY(1));
    const now = '2026-10-01T12:00:00.000Z';
    await ended(bench, await pay(bench, {}, { metadata: bench.metadata(now) }));
    const refused = await ended(bench, await pay(bench, {}, { metadata: bench.metadata(now) }));
    expect(refused).toMatchObject({
      state: 'recorded',
      sealingRevision: 1,
      charges: [],
      decision: {
        outcome: 'deny',
        code: 'budget_exceeded',
        source: 'budget',
        rule_id: null,
        reason: 'budget daily',
        policy,
        retry_at: '2026-10-02T00:00:00.000Z',
      },
    });
    expect(refused.decision?.message).toBe(
      'The budget daily of the policy allows 1 call, and there is none left until 2026-10-02T00:00:00.000Z. ' +
        'Send the call again then, with a new Idempotency-Key, or ask an admin to raise the budget.',
    );
    expect(upstream.countFor(refused.submission.action)).toBe(0);
  });

  it('runs again when the next period has begun', async () => {
    await enforce(CALLS_A_DAY(1));
    const at = (now: string) => ({ metadata: bench.metadata(now), isRun: false });
    const calls = ['2026-10-01T23:59:59.999Z', '2026-10-01T23:59:59.999Z', '2026-10-02T00:00:00.000Z'];
    const refused = [];
    for (const now of calls) refused.push((await pay(bench, {}, at(now))).isRefused);
    expect(refused).toEqual([false, true, false]);
  });

  it('is told if the budget is the own one of the agent', async () => {
    await enforce(CALLS_A_DAY(100));
    await setAgentBudgets({ calls_per_day: 1, spend_per_day: { amount: 500, currency: 'eur' } });
    const tooDear = await ended(bench, await pay(bench, { amount: 501 }));
    expect(tooDear.decision?.message).toMatch(
      /^The agent's budget of spend per day allows €5\.00, and less than €5\.01 of it is left until /,
    );
    await ended(bench, await pay(bench));
    const oneMore = await ended(bench, await pay(bench));
    expect(oneMore.decision?.message).toMatch(
      /^The agent's budget of calls per day allows 1 call, and there is none left/,
    );
    expect(await used()).toEqual({ 'calls_per_day calls': 1, 'spend_per_day eur': 0, 'daily calls': 1 });
  });

  it('is refused without a time to retry if it spends another currency', async () => {
    await enforce(EUR_A_DAY(1_000));
    const { decision } = await ended(bench, await pay(bench, { amount: 1, currency: 'usd' }));
    expect(decision).toMatchObject({ code: 'policy_denied', source: 'budget', reason: 'budget money' });
    expect(decision).not.toHaveProperty('retry_at');
    expect(decision?.message).toContain('This call spends usd, and the budget money of the policy counts eur');
    expect(await used()).toEqual({});
  });
});

describe('what a call is charged', () => {
  it('stands in its decision, and the log confirms what was reserved', async () => {
    await enforce([...CALLS_A_DAY(10), ...EUR_A_DAY(1_000)]);
    const now = '2026-10-01T12:00:00.000Z';
    const { charges } = await ended(bench, await pay(bench, { amount: 300 }, { metadata: bench.metadata(now) }));
    const day = {
      period: 'day:2026-10-01',
      starts_at: '2026-10-01T00:00:00.000Z',
      resets_at: '2026-10-02T00:00:00.000Z',
    };
    expect(charges).toEqual([
      { budget: `${policy}/daily`, calls: 1, amount: null, currency: null, limit: 10, ...day },
      { budget: `${policy}/money`, calls: 0, amount: 300, currency: 'eur', limit: 1_000, ...day },
    ]);
    expect(await used()).toEqual({ 'daily calls': 1, 'money eur': 300 });
    expect((await scene.tables.rows.unconfirmed(Number.MAX_SAFE_INTEGER, 10)).length).toBe(0);
  });

  it('is one pool for all calls that match, in every version, and nothing for the others', async () => {
    await enforce([...CALLS_A_DAY(5), '  match:', '    tools:', '      - crm.*']);
    await pay(bench, {}, { isRun: false });
    await enforce([...CALLS_A_DAY(5), '  match:', '    tools:', '      - mail.*']);
    await pay(bench, {}, { isRun: false });
    expect(await used()).toEqual({});
  });

  it('is given back if nothing ran, only its money if it was not applied, nothing if that is unknown', async () => {
    await enforce([...CALLS_A_DAY(10), ...EUR_A_DAY(1_000)]);
    status = 422;
    expect((await ended(bench, await pay(bench, { amount: 100 }))).outcome?.status).toBe('failed');
    expect(await used()).toEqual({ 'daily calls': 1 });
    status = 500;
    expect((await ended(bench, await pay(bench, { amount: 20 }))).outcome?.status).toBe('unknown');
    expect(await used()).toEqual({ 'daily calls': 2, 'money eur': 20 });
  });

  it('of a call that nobody took up in time is given back whole', async () => {
    await enforce([...CALLS_A_DAY(10), ...EUR_A_DAY(1_000)]);
    const unclaimed = bench.handler({
      claimant: () => null,
      withdraw: () => undefined,
      start: () => Promise.resolve(),
    });
    const { action } = await bench.submit({ tool: 'crm.pay', args: { amount: 7 } }, unclaimed);
    expect(await used()).toEqual({ 'daily calls': 1, 'money eur': 7 });
    const metadata = bench.metadata(timestampOf(bench.clock.nowMs() + 3_600_000));
    await bench.runner.run(actionDecider, action, { type: 'ExpireStart', data: {}, metadata }, metadata);
    expect(await used()).toEqual({});
  });

  it('is what was spent, once the tool has said so', async () => {
    await enforce(EUR_A_DAY(1_000));
    await ended(bench, await pay(bench, { amount: 300, spent: 340 }));
    await ended(bench, await pay(bench, { spent: 60 }));
    expect(await used()).toEqual({ 'money eur': 400 });
    expect((await pay(bench, { amount: 601 })).isRefused).toBe(true);
    expect((await pay(bench, { amount: 600 })).isRefused).toBe(false);
  });
});

describe('a call that waits for a person', () => {
  let people: ApprovalScene;
  beforeEach(async () => {
    people = new ApprovalScene(bench);
    await enforce([...CALLS_A_DAY(1), ...EUR_A_DAY(100)], 'require_approval');
  });

  it('keeps its charges meanwhile, so an approval never fails for money', async () => {
    const admin = await people.member('admin');
    const { action } = await pay(bench, { amount: 100 });
    expect((await pay(bench, { amount: 1 })).isRefused).toBe(true);
    await people.approve(action, admin);
    expect((await ended(bench, { action } as never)).outcome?.status).toBe('succeeded');
    expect(await used()).toEqual({ 'daily calls': 1, 'money eur': 100 });
  });

  it('gives them back when it is denied', async () => {
    const admin = await people.member('admin');
    const { action } = await pay(bench, { amount: 100 });
    await people.deny(action, admin);
    expect(await used()).toEqual({});
    expect((await pay(bench, { amount: 100 })).isRefused).toBe(false);
  });

  it('that too few could approve is refused, and is charged nothing', async () => {
    await bench.enforce(
      `${policyWith(CALLS_A_DAY(5), 'deny')}rules:\n  - id: two\n    decision: require_approval\n    approval:\n      required: 5\n`,
    );
    expect((await ended(bench, await pay(bench))).decision?.code).toBe('approval_unsatisfiable');
    expect(await used()).toEqual({});
  });
});

describe('one request', () => {
  beforeEach(() => enforce(CALLS_A_DAY(1)));

  it('repeated under its key is charged once and answered with its action', async () => {
    const first = await pay(bench, {}, { idempotencyKey: 'k' });
    expect(await pay(bench, {}, { idempotencyKey: 'k' })).toMatchObject({ action: first.action, isReplay: true });
    expect(await used()).toEqual({ 'daily calls': 1 });
  });

  it('a hundred times at once under one key is one call, also if judged from the cache', async () => {
    await pay(bench, {}, { idempotencyKey: 'warm', isRun: false });
    await enforce(CALLS_A_DAY(1));
    const calls = Array.from({ length: 100 }, (_, index) =>
      pay(
        bench,
        {},
        { idempotencyKey: 'k', isRun: false, ...(index % 2 === 0 ? { since: 'remembered' as const } : {}) },
      ),
    );
    const answers = (await Promise.allSettled(calls)).flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    expect(new Set(answers.map(({ action }) => action)).size).toBe(1);
    expect(await used()).toEqual({ 'daily calls': 1 });
  });

  it('whose key another request has taken meanwhile frees its charges', async () => {
    await enforce(CALLS_A_DAY(10));
    const append = bench.store.append.bind(bench.store);
    const spy = vi.spyOn(bench.store, 'append').mockImplementationOnce(async (...given) => {
      spy.mockImplementation(append);
      await pay(bench, { amount: 2 }, { idempotencyKey: 'k', isRun: false });
      return append(...given);
    });
    const late = pay(bench, { amount: 1 }, { idempotencyKey: 'k', isRun: false });
    expect((await rejected(DomainError, late)).code).toBe('idempotency_conflict');
    expect(await used()).toEqual({ 'daily calls': 1 });
  });

  it('whose first try used an outdated cache is charged once', async () => {
    await enforce(CALLS_A_DAY(2));
    await pay(bench, {}, { isRun: false });
    await bench.changeElsewhere({ timeout_ms: 5_000 });
    const metadata = bench.metadata();
    await expect(pay(bench, {}, { metadata, isRun: false, since: 'remembered' })).rejects.toThrow();
    expect((await pay(bench, {}, { metadata, isRun: false })).isRefused).toBe(false);
    expect(await used()).toEqual({ 'daily calls': 2 });
  });
});

describe('a submission that a crash cut off between its reservation and its append', () => {
  const MINUTE_MS = 60_000;
  const crash = async (request: object = {}): Promise<void> => {
    const spy = vi.spyOn(bench.store, 'append').mockRejectedValueOnce(new Error('the process died here'));
    await expect(pay(bench, {}, { isRun: false, ...request })).rejects.toThrow('died here');
    spy.mockRestore();
  };
  beforeEach(() => enforce(CALLS_A_DAY(1)));
  afterEach(() => {
    bench.clock.jumpMs = 0;
  });

  it('stays reserved for a minute; then it is swept, and the budget is whole again', async () => {
    await crash();
    const sweeper = scene.sweeperOf(bench);
    bench.clock.jumpMs = MINUTE_MS - 1_000;
    expect([await sweeper.sweep(), (await pay(bench, {}, { isRun: false })).isRefused]).toEqual([0, true]);
    bench.clock.jumpMs = MINUTE_MS + 1_000;
    expect(await sweeper.sweep()).toBe(1);
    expect(await used()).toEqual({});
    expect((await pay(bench, {}, { isRun: false })).isRefused).toBe(false);
  });

  it('keeps its reservation when it is tried again under its key', async () => {
    await crash({ idempotencyKey: 'k' });
    expect((await pay(bench, {}, { idempotencyKey: 'k', isRun: false })).isRefused).toBe(false);
    expect(await used()).toEqual({ 'daily calls': 1 });
  });

  it.each([
    ['without a key is told that it was not recorded', {}],
    ['under a key takes another id', { idempotencyKey: 'k' }],
  ])('and that comes after the sweep %s', async (_, request) => {
    const append = bench.store.append.bind(bench.store);
    const spy = vi.spyOn(bench.store, 'append').mockImplementationOnce(async (...given) => {
      spy.mockImplementation(append);
      bench.clock.jumpMs = MINUTE_MS + 1_000;
      expect(await scene.sweeperOf(bench).sweep()).toBe(1);
      return append(...given);
    });
    const [end] = await Promise.allSettled([pay(bench, {}, { isRun: false, ...request })]);
    spy.mockRestore();
    if ('idempotencyKey' in request) {
      expect(end).toMatchObject({ status: 'fulfilled', value: { isRefused: false } });
      expect(await used()).toEqual({ 'daily calls': 1 });
    } else {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } });
      expect(await used()).toEqual({});
    }
  });

  it('is not swept while the rows are behind the log', async () => {
    const { action } = await pay(bench, {}, { isRun: false });
    await scene.settle();
    await scene.stopFollowing();
    const confirm = (is: boolean): Promise<unknown> =>
      scene.tables.pool.query(`update gate.budget_reservations set is_confirmed = $2 where action = $1`, [action, is]);
    await confirm(false);
    bench.clock.jumpMs = MINUTE_MS + 1_000;
    const reach = vi.spyOn(scene.tables.rows, 'reach').mockResolvedValue(false);
    expect(await scene.sweeperOf(bench).sweep()).toBe(0);
    reach.mockRestore();
    await confirm(true);
    await scene.follow();
    expect((await bench.streams.load(streamRef(actionDecider, action))).state.state).toBe('executing');
  });
});

describe('the rows of budgets', () => {
  it('made anew from the log are the same', async () => {
    await enforce([...CALLS_A_DAY(20), ...EUR_A_DAY(1_000)]);
    for (const amount of [10, 20, 30]) await ended(bench, await pay(bench, { amount, spent: amount + 1 }));
    status = 422;
    await ended(bench, await pay(bench, { amount: 500 }));
    const people = new ApprovalScene(bench);
    const admin = await people.member('admin');
    await enforce([...CALLS_A_DAY(20), ...EUR_A_DAY(1_000)], 'require_approval');
    await pay(bench, { amount: 40 });
    await people.deny((await pay(bench, { amount: 50 })).action, admin);
    await scene.settle();
    const [rows, counters] = [await scene.tables.dump(), await scene.tables.counters()];
    await scene.stopFollowing();
    // As after a restore of a database that belongs to another log.
    await scene.tables.pool.query(`update gate.checkpoint set store_id = 'another' where name = 'budgets'`);
    await scene.follow();
    await scene.settle();
    expect(await scene.tables.dump()).toEqual(rows);
    // No reservation has needed a counter since; each is opened by the first that does.
    expect(await scene.tables.counters()).toEqual([]);
    await pay(bench, {}, { isRun: false });
    await scene.settle();
    const opened = new Map((await scene.tables.counters()).map(({ name, used: sum }) => [name, sum]));
    for (const { name, used: sum } of counters) {
      if (opened.has(name))
        expect([name, opened.get(name)]).toEqual([name, name.includes(`${policy}/daily`) ? sum + 1 : sum]);
    }
  });

  it('that are being made anew refuse what budgets bound, and nothing else', async () => {
    await enforce([...CALLS_A_DAY(1), '  match:', '    tools:', '      - crm.pay']);
    const process = await scene.bench(upstream.baseUrl, scene.tables.process(0));
    policy = await process.enforce(policyWith(CALLS_A_DAY(5)));
    await scene.settle();
    await pay(process, {}, { isRun: false });
    await scene.stopFollowing();
    await scene.tables.pool.query(`select gate.forget_budgets()`);
    expect((await rejected(DomainError, pay(process, {}, { isRun: false }))).code).toBe('service_unavailable');
    await process.enforce('version: 1\ndefault: allow\n');
    expect((await pay(process, {}, { isRun: false })).isRefused).toBe(false);
    await scene.follow();
    await scene.settle();
    process.close();
  });
});

it('a call that no budget bounds reads nothing about budgets', async () => {
  await bench.enforce('version: 1\ndefault: allow\n');
  const reserve = vi.spyOn(bench.gate.budgets, 'reserve');
  const { action } = await pay(bench, { amount: 5 }, { isRun: false });
  expect(reserve).not.toHaveBeenCalled();
  expect((await recordedAs(bench, action)).charges).toEqual([]);
});

it('64 callers at once, in two processes, end exactly at the limit', async () => {
  await enforce(CALLS_A_DAY(50));
  const other = bench.handler();
  const calls = Array.from({ length: 128 }, (_, index) =>
    index % 2 === 0 ? pay(bench, {}, { isRun: false }) : bench.submit({ tool: 'crm.pay', args: {} }, other),
  );
  const refused = (await Promise.all(calls)).filter(({ isRefused }) => isRefused);
  expect(refused).toHaveLength(78);
  expect(await used()).toEqual({ 'daily calls': 50 });
});
