import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AgentId } from '#libs/domain/kernel';
import { type Browser, type BrowserAnswer, PeopleBench } from '../../../../test/support/people-bench.js';
import { testId } from '../../../../test/support/given-log.js';

type Json = Record<string, unknown>;

const rule = (id: string, lines: readonly string[]): string =>
  `  - id: ${id}\n${lines.map((line) => `    ${line}\n`).join('')}`;
const REFUNDS = ['match:', '  tools:', '    - pay.refund'];
/** A refund of up to 50 goes through, one of up to 500 waits for people, and all else is refused. */
const SOURCE = `version: 1\ndefault: deny\nrules:\n${rule('small', [...REFUNDS, 'when: args.amount <= 50', 'decision: allow'])}${rule('asked', [...REFUNDS, 'when: args.amount <= 500', 'decision: require_approval'])}`;
const WIDER = SOURCE.replace('<= 50\n', '<= 100\n');
const EVERYTHING = 'version: 1\ndefault: allow\n';
const MISSPELT = SOURCE.replace('default: deny', 'default: denied');

let bench: PeopleBench;
let caller: Browser;
let policy: Json;

const post = (path: string, body: object, headers = bench.adminKey): Promise<BrowserAnswer> =>
  caller.post(`/v1/policies${path}`, body, headers);
const refusalOf = ({ status, error }: BrowserAnswer): unknown[] => [status, error['code'], error['param']];

beforeAll(async () => {
  bench = await PeopleBench.start();
  caller = bench.browser();
  const config = {
    base_url: 'https://pay.example.com',
    allowed_methods: ['POST'],
    allowed_path_prefixes: ['/v1'],
    tools: [
      {
        name: 'refund',
        method: 'POST',
        path: '/v1/refunds',
        args: { amount: { in: 'body', type: 'integer', required: true } },
      },
    ],
  };
  await caller.post('/v1/connectors', { type: 'rest', name: 'pay', config }, bench.adminKey);
  policy = (await post('', { name: 'Refunds', source: SOURCE })).json;
  await post(`/${String(policy['id'])}/versions/1/activate`, { mode: 'enforce' });
});
afterAll(() => bench?.close());

/** Submits a call and gives the id of its action, whatever became of it. */
const act = async (amount: number, tool = 'pay.refund'): Promise<string> => {
  const { json, error } = await caller.post('/v1/actions', { tool, args: { amount }, wait: 0 }, bench.agentKey);
  return String(json['id'] ?? (error['action'] as Json)['id']);
};
const removeInput = (action: string) =>
  bench.deployment.database.durable.query(`delete from gate.payloads where owner = $1 and kind = 'policy_input'`, [
    action,
  ]);

describe('POST /v1/policies/test', () => {
  const CASES = `- name: a small refund goes through
  input:
    tool: pay.refund
    args:
      amount: 10
  expect:
    decision: allow
    rule: small
- name: a large one asks
  input:
    tool: pay.refund
    args:
      amount: 5000
  expect:
    decision: require_approval
`;

  it('tells of each case what the source says, and stores nothing', async () => {
    const head = await bench.deployment.database.store.head();
    const { status, json } = await post('/test', { source: SOURCE, cases: CASES });
    expect([status, json]).toEqual([
      200,
      {
        object: 'policy_test',
        passed: 1,
        failed: 1,
        cases: [
          {
            name: 'a small refund goes through',
            line: 1,
            ok: true,
            expect: { decision: 'allow', rule: 'small' },
            decision: 'allow',
            rule_id: 'small',
            code: null,
            reason: 'rule small',
            message: null,
          },
          {
            name: 'a large one asks',
            line: 9,
            ok: false,
            expect: { decision: 'require_approval', rule: null },
            decision: 'deny',
            rule_id: null,
            code: 'policy_denied',
            reason: 'default deny',
            message: expect.stringContaining('policy') as string,
          },
        ],
      },
    ]);
    expect(await bench.deployment.database.store.head()).toBe(head);
  });

  it('completes a case by the tool that the organization has', async () => {
    const source = `version: 1\ndefault: deny\nrules:\n${rule('posts', ['match:', '  side_effect: write', 'when: request.http.path == "/v1/refunds"', 'decision: allow'])}`;
    const { json } = await post('/test', { source, cases: CASES });
    expect(json).toMatchObject({ cases: [{ decision: 'allow', rule_id: 'posts' }, { decision: 'allow' }] });
  });

  it('refuses what cannot be read, the source and the cases alike, with lines', async () => {
    const source = await post('/test', { source: MISSPELT, cases: CASES });
    expect(refusalOf(source)).toEqual([400, 'policy_invalid', 'source']);
    const cases = await post('/test', { source: SOURCE, cases: CASES.replace('decision: allow', 'decision: alow') });
    expect(refusalOf(cases)).toEqual([400, 'policy_invalid', 'cases']);
    expect(cases.error['diagnostics']).toMatchObject([{ line: 7, path: 'cases[0].expect.decision' }]);
    expect(refusalOf(await post('/test', { source: SOURCE }))).toEqual([400, 'validation_failed', 'cases']);
  });
});

describe('POST /v1/policies/dry-run', () => {
  const INPUT = { tool: 'pay.refund', args: { amount: 70 } };

  it('says what a source decides of a call, and why', async () => {
    const { status, json } = await post('/dry-run', { source: SOURCE, input: INPUT });
    expect([status, json]).toMatchObject([
      200,
      {
        object: 'policy_dry_run',
        decision: { outcome: 'require_approval', code: null, source: 'rule', rule_id: 'asked', reason: 'rule asked' },
        recorded: null,
        trace: [
          { rule_id: 'small', why: 'when_false' },
          { rule_id: 'asked', why: 'applies' },
        ],
        budgets: [],
        approval: { approvers: ['role:admin'], required: 1, expires_in_s: null },
        diagnostics: [],
        input: { side_effect: 'write', request: { http: { method: 'POST', path: '/v1/refunds' } } },
      },
    ]);
  });

  it('takes a call of a database for what its statement does, as the gate does', async () => {
    const config = { host: 'db.example.com', port: 443, database: 'shop' };
    const made = await caller.post('/v1/connectors', { type: 'database', name: 'shop', config }, bench.adminKey);
    expect(made.status).toBe(201);
    const about = (sideEffect: string) => ['match:', '  tools:', '    - shop.*', `  side_effect: ${sideEffect}`];
    const rules = `${rule('keep', [...about('destructive'), 'decision: deny'])}${rule('change', [...about('write'), 'decision: allow'])}`;
    const source = `version: 1\ndefault: deny\nrules:\n${rules}`;
    const of = async (sql: string) =>
      (await post('/dry-run', { source, input: { tool: 'shop.execute', args: { sql } } })).json;
    const destroys = { decision: { rule_id: 'keep' }, input: { side_effect: 'destructive' }, diagnostics: [] };
    expect(await of('DELETE FROM refunds')).toMatchObject(destroys);
    expect(await of('UPDATE refunds SET status = 1 WHERE id = 2')).toMatchObject({ decision: { rule_id: 'change' } });
  });

  it('says which budgets the call would be charged to', async () => {
    const budgets =
      'budgets:\n  - id: daily\n    period: day\n    max_calls: 5\n    max_spend:\n      amount: 900\n      currency: eur\n' +
      '  - id: reads\n    period: hour\n    max_calls: 1\n    match:\n      side_effect: read\n';
    const { json } = await post('/dry-run', { source: `${SOURCE}${budgets}`, input: INPUT });
    expect(json['budgets']).toEqual([
      { id: 'daily', period: 'day', max_calls: 5, max_spend: { amount: 900, currency: 'eur' } },
    ]);
  });

  it('takes a version of a policy, by its number and its id', async () => {
    for (const version of [1, '1', (policy['latest_version'] as Json)['id']]) {
      const { json } = await post('/dry-run', { policy: policy['id'], version, input: INPUT });
      expect(json).toMatchObject({ decision: { rule_id: 'asked' } });
    }
  });

  it('judges a recorded action by the very input it was judged by', async () => {
    const action = await act(70);
    const { json } = await post('/dry-run', { source: EVERYTHING, action });
    expect(json).toMatchObject({
      decision: { outcome: 'allow', source: 'default' },
      recorded: { outcome: 'require_approval', rule_id: 'asked', policy: policy['id'] },
      input: { tool: 'pay.refund', args: { amount: 70 }, agent: { name: expect.any(String) as string } },
    });
  });

  it('says that an input is stored no more, and guesses nothing', async () => {
    const action = await act(71);
    await removeInput(action);
    await vi.waitFor(async () => {
      const answer = await post('/dry-run', { source: EVERYTHING, action });
      expect(refusalOf(answer)).toEqual([409, 'conflict', 'action']);
      expect(answer.error['message']).toContain('Send the call as input');
    }, 10_000);
  });

  it('tells what the tools say of the source', async () => {
    const { json } = await post('/dry-run', {
      source: SOURCE.replace('args.amount <= 50\n', 'args.amuont <= 50\n'),
      input: INPUT,
    });
    expect(json).toMatchObject({
      decision: { outcome: 'deny', code: 'policy_unavailable', source: 'builtin', rule_id: 'small' },
      trace: [{ rule_id: 'small', why: 'no_answer' }],
      diagnostics: [{ code: 'unknown_argument' }],
    });
  });

  it.each<[object, unknown[]]>([
    [{ input: INPUT }, [400, 'validation_failed', 'source']],
    [{ source: SOURCE }, [400, 'validation_failed', 'action']],
    [{ source: SOURCE, policy: testId('pol', 1), input: INPUT }, [400, 'validation_failed', 'policy']],
    [{ source: SOURCE, version: 1, input: INPUT }, [400, 'validation_failed', 'version']],
    [{ policy: testId('pol', 1), input: INPUT }, [400, 'validation_failed', 'version']],
    [{ policy: testId('pol', 1), version: 1, input: INPUT }, [404, 'not_found', null]],
    [{ source: SOURCE, input: INPUT, action: testId('act', 1) }, [400, 'validation_failed', 'input']],
    [{ source: SOURCE, action: testId('act', 1) }, [404, 'not_found', 'action']],
    [{ source: SOURCE, input: { args: {} } }, [400, 'validation_failed', 'input.tool']],
    [{ source: SOURCE, input: { ...INPUT, arg: 1 } }, [400, 'validation_failed', 'input.arg']],
    [{ source: SOURCE, input: { ...INPUT, mode: 'edge' } }, [400, 'validation_failed', 'input.mode']],
    [
      { source: SOURCE, input: { ...INPUT, agent: { labels: { a: 1 } } } },
      [400, 'validation_failed', 'input.agent.labels.a'],
    ],
    [{ source: MISSPELT, input: INPUT }, [400, 'policy_invalid', 'source']],
  ])('refuses %j', async (body, refusal) => {
    expect(refusalOf(await post('/dry-run', body))).toEqual(refusal);
  });
});

describe('POST /v1/policies/preview', () => {
  it('tells what a draft would have changed of the newest actions', async () => {
    const { agent } = bench.prepared;
    const asked = await act(80);
    const refused = await act(5_000);
    await act(1, 'pay.nothing');
    const removed = await act(90);
    await removeInput(removed);
    await vi.waitFor(async () => {
      const { status, json } = await post('/preview', { source: WIDER, agent: agent as AgentId, tool: 'pay.*' });
      expect([status, json]).toMatchObject([
        200,
        { object: 'policy_preview', human_denied_now_allowed: 0, complete: true },
      ]);
      expect((json['unjudged_because'] as Json)['not_asked']).toBe(1);
      expect((json['unjudged_because'] as Json)['payload_removed']).toBeGreaterThanOrEqual(1);
      const samples = json['samples'] as Json[];
      expect(samples).toContainEqual(
        expect.objectContaining({ action: asked, from: 'require_approval', to: 'allow', rule_id: 'small' }),
      );
      expect(samples.map(({ action }) => action)).not.toContain(refused);
      expect(samples.map(({ action }) => action)).not.toContain(removed);
      expect(json['changes']).toMatchObject([
        { from: 'require_approval', to: 'allow', by_rule: [{ rule_id: 'small' }] },
      ]);
      expect(Number(json['judged'])).toBe(Number(json['same']) + Number(json['changed']));
    }, 10_000);
    const none = await post('/preview', { source: WIDER, tool: 'crm.*' });
    expect(none.json).toMatchObject({ judged: 0, from: null, complete: true });
  });

  it('compares with the version in force; where none is, with what was decided then', async () => {
    const asked = await act(80);
    const id = String(policy['id']);
    const wider = await post(`/${id}/versions`, { source: WIDER });
    await post(`/${id}/versions/2/activate`, { mode: 'enforce' });
    const sampleOf = ({ json }: BrowserAnswer) => (json['samples'] as Json[]).find(({ action }) => action === asked);
    await vi.waitFor(async () => {
      const back = await post('/preview', { source: SOURCE, tool: 'pay.*' });
      expect(back.json['compared_with']).toEqual({
        ...{ basis: 'enforced', policy: id, policy_version: wider.json['id'], version: 2 },
      });
      expect(sampleOf(back)).toMatchObject({ from: 'allow', to: 'require_approval', recorded: 'require_approval' });
    }, 10_000);
    const same = await post('/preview', { source: WIDER, tool: 'pay.*' });
    expect([same.json['changed'], sampleOf(same)]).toEqual([0, undefined]);
    expect(Number(same.json['changed_from_recorded'])).toBeGreaterThan(0);
    await post(`/${id}/deactivate`, { mode: 'enforce' });
    const then = await post('/preview', { source: WIDER, tool: 'pay.*' });
    expect(then.json['compared_with']).toEqual({
      ...{ basis: 'recorded', policy: null, policy_version: null, version: null },
    });
    expect(sampleOf(then)).toMatchObject({ from: 'require_approval', to: 'allow' });
    await post(`/${id}/versions/1/activate`, { mode: 'enforce' });
  });

  it.each<[object, unknown[]]>([
    [{}, [400, 'validation_failed', 'source']],
    [{ source: MISSPELT }, [400, 'policy_invalid', 'source']],
    [{ source: SOURCE, actions: 99 }, [400, 'validation_failed', 'actions']],
    [{ source: SOURCE, actions: 2_001 }, [400, 'validation_failed', 'actions']],
    [{ source: SOURCE, agent: 'agt_1' }, [400, 'validation_failed', 'agent']],
    [{ source: SOURCE, tool: 'a*b*c*d*' }, [400, 'validation_failed', 'tool']],
  ])('refuses %j', async (body, refusal) => {
    expect(refusalOf(await post('/preview', body))).toEqual(refusal);
  });

  it('is answered twenty times a minute', async () => {
    const owner = await bench.ownerBrowser();
    const preview = () => owner.post('/v1/policies/preview', { source: EVERYTHING, tool: 'crm.*' });
    const answers = [];
    for (let count = 0; count < 21; count += 1) answers.push(await preview());
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(20).fill(200), 429]);
    expect(answers.at(-1)?.error['code']).toBe('rate_limited');
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('trying a policy', () => {
  it('is for people and admin keys: an agent key may not', async () => {
    for (const path of ['/test', '/dry-run', '/preview']) {
      expect(refusalOf(await post(path, {}, bench.agentKey))).toEqual([403, 'insufficient_scope', null]);
    }
  });
});
