import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';
import type { ConnectorDriver } from '#libs/domain/connectors';
import { type Browser, type BrowserAnswer, PeopleBench } from '../../../../test/support/people-bench.js';
import { startUpstream, type Upstream } from '../../../../test/support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: large
    match:
      tools:
        - pay.refund
    when: args.amount > 1000
    decision: require_approval
    approval:
      required: 2
  - id: refunds
    description: Money leaves the house.
    match:
      tools:
        - pay.refund
    decision: require_approval
`;
const PAY = {
  type: 'rest',
  name: 'pay',
  config: {
    allowed_methods: ['POST'],
    allowed_path_prefixes: ['/v1'],
    tools: [
      {
        name: 'refund',
        description: 'Gives money back',
        method: 'POST',
        path: '/v1/refunds',
        args: {
          amount: { in: 'body', type: 'integer' },
          note: { in: 'body', type: 'string' },
          share: { in: 'body', type: 'number' },
        },
      },
    ],
  },
};

const PATIENCE = { timeout: 20_000, interval: 50 };

let upstream: Upstream;
let bench: PeopleBench;
let [owner, admin, viewer] = [] as unknown as [Browser, Browser, Browser];

beforeAll(async () => {
  upstream = await startUpstream();
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  owner = await bench.ownerBrowser();
  admin = await bench.member(owner, 'admin@example.com', 'admin');
  viewer = await bench.member(owner, 'viewer@example.com', 'viewer');
  const config = { ...PAY.config, base_url: upstream.baseUrl };
  expect((await admin.post('/v1/connectors', { ...PAY, config })).status).toBe(201);
  const policy = await admin.post('/v1/policies', { name: 'Refunds', source: POLICY });
  const activate = `/v1/policies/${policy.json['id'] as string}/versions/1/activate`;
  expect((await admin.post(activate, { mode: 'enforce' })).status).toBe(200);
});
afterAll(async () => {
  await bench?.close();
  await upstream?.close();
});

interface Held {
  readonly action: string;
  readonly approval: string;
}

const held = (args: object = { amount: 500 }, headers: Record<string, string> = {}): Promise<Held> =>
  heldBy({ tool: 'pay.refund', args, wait: 0 }, headers);
const heldBy = async (body: object | string, headers: Record<string, string> = {}): Promise<Held> => {
  const { status, json } = await bench.browser().post('/v1/actions', body, { ...bench.agentKey, ...headers });
  expect(status).toBe(202);
  expect(json).toMatchObject({ state: 'pending_approval', status: 'pending_approval' });
  const action = json['id'] as string;
  return { action, approval: action.replace('act_', 'apr_') };
};
const read = async (browser: Browser, { approval }: Held): Promise<Record<string, unknown>> =>
  (await browser.get(`/v1/approvals/${approval}`)).json;
const approve = async (browser: Browser, one: Held, body: object = {}): Promise<BrowserAnswer> => {
  const { context_digest } = await read(browser, one);
  return browser.post(`/v1/approvals/${one.approval}/approve`, { context_digest, ...body });
};
const deny = (browser: Browser, { approval }: Held, body: object = {}): Promise<BrowserAnswer> =>
  browser.post(`/v1/approvals/${approval}/deny`, body);
const ended = async ({ action }: Held): Promise<Record<string, unknown>> =>
  vi.waitFor(
    async () => {
      const { json } = await bench.browser().get(`/v1/actions/${action}`, bench.agentKey);
      expect(json['state']).toBe('sealed');
      return json;
    },
    { timeout: 20_000, interval: 50 },
  );

const warnedOf = async (one: Held): Promise<readonly string[]> =>
  ((await read(admin, one))['warnings'] as readonly { code: string }[]).map(({ code }) => code);
const listedStatus = async ({ action }: Held): Promise<unknown> => {
  const { json } = await admin.get(`/v1/approvals?status=all&action=${action}`);
  return (json['data'] as readonly { status: string }[])[0]?.status;
};

describe('an approval', () => {
  it('shows a person all that is decided on, and how the person stands to it', async () => {
    const one = await held({ amount: 500, note: 'As agreed.' }, { 'Service-On-Behalf-Of': 'customer_7' });
    expect(await read(admin, one)).toMatchObject({
      object: 'approval',
      id: one.approval,
      action: one.action,
      status: 'pending',
      tool: 'pay.refund',
      side_effect: 'write',
      rule_id: 'refunds',
      required: 1,
      countersigned: 0,
      on_behalf_of: 'customer_7',
      decided_by: null,
      deed: null,
      cost: null,
      approvable: true,
      blocked_by: null,
      context: {
        tool: { name: 'pay.refund', description: 'Gives money back', side_effect: 'write', definition: null },
        args: { amount: 500, note: 'As agreed.' },
        on_behalf_of: 'customer_7',
        rule: { id: 'refunds', description: 'Money leaves the house.' },
        approvers: ['role:admin'],
        sends: { method: 'POST', url: `${upstream.baseUrl}/v1/refunds` },
        verify: { level: 'L0', sentence: 'Nothing is read back: the tool’s own word is all there will be.' },
        complete: true,
        changed: [],
      },
      you: { eligible: true, why_not: null, may_deny: true, has_passkey: false },
    });
    const [why_not, no] = ['approver_not_eligible', { eligible: false, may_deny: false, has_passkey: false }];
    expect((await read(viewer, one))['you']).toEqual({ ...no, why_not });
  });

  it('shows an admin key its state alone, and an agent’s key nothing', async () => {
    const one = await held();
    const { json } = await bench.browser().get(`/v1/approvals/${one.approval}`, bench.adminKey);
    expect(json).toMatchObject({
      id: one.approval,
      status: 'pending',
      context_digest: expect.stringMatching(/^sha256:/) as string,
    });
    for (const member of ['context', 'approvable', 'approvers', 'you', 'warnings'])
      expect(json).not.toHaveProperty(member);
    const byAgent = await bench.browser().get(`/v1/approvals/${one.approval}`, bench.agentKey);
    expect(byAgent).toMatchObject({ status: 403, error: { code: 'insufficient_scope' } });
  });

  it('warns of a first call, for which one that was denied is no precedent, and of what a reader does not see', async () => {
    const agent = await admin.post('/v1/agents', { name: 'fresh' });
    const key = await admin.post(`/v1/agents/${agent.json['id'] as string}/keys`, {});
    const headers = { Authorization: `Bearer ${key.json['secret'] as string}` };
    const denied = await held({ amount: 1 }, headers);
    expect(await warnedOf(denied)).toEqual(['first_call']);
    await deny(admin, denied);
    const hiding = await held({ amount: 1, note: 'to \u202Egnp.exe' }, headers);
    await vi.waitFor(async () => expect(await listedStatus(denied)).toBe('denied'), PATIENCE);
    expect(await warnedOf(hiding)).toEqual(['first_call', 'hidden_characters']);
    await approve(admin, hiding);
    const third = await held({ amount: 1 }, headers);
    await vi.waitFor(async () => expect(await warnedOf(third)).toEqual([]), PATIENCE);
  });

  it('says what the call spends, and warns of an unusual amount and of what the payments processor says', async () => {
    const driver = bench.deployment.drivers.driverOf('rest') as ConnectorDriver;
    const facts = driver.requestFacts.bind(driver);
    const spending = vi.spyOn(driver, 'requestFacts').mockImplementation((connector, tool, args) => {
      const payments = JSON.parse((args['note'] ?? '{}') as string) as never;
      return { ...facts(connector, tool, args), cost: { amount: args['amount'] as number, currency: 'eur' }, payments };
    });
    const usual = await held({ amount: 100 });
    expect(await read(admin, usual)).toMatchObject({
      cost: { amount: 100, currency: 'eur', display: '€1.00' },
      context: { facts: { cost: { amount: 100, currency: 'eur' } } },
    });
    expect(await warnedOf(usual)).toEqual(['first_call']);
    const refused = await held({ amount: 1 });
    await Promise.all([approve(admin, usual), deny(admin, refused)]);
    const large = await held({ amount: 500 });
    await vi.waitFor(
      async () =>
        expect((await read(admin, large))['warnings']).toEqual([
          {
            code: 'unusual_amount',
            text: 'This call spends €5.00. The median of the last call of this tool is €1.00.',
          },
        ]),
      PATIENCE,
    );
    expect(await warnedOf(await held({ amount: 499 }))).toEqual([]);
    const said = JSON.stringify({ enriched: false, disputed: true });
    expect(await warnedOf(await held({ amount: 100, note: said }))).toEqual(['not_enriched', 'disputed']);
    const refunding = (refundable: number) =>
      held({ amount: 100, note: JSON.stringify({ enriched: true, refundable }) });
    expect(await warnedOf(await refunding(100))).toEqual([]);
    expect(await warnedOf(await refunding(99))).toEqual(['more_than_refundable']);
    spending.mockRestore();
  });

  it('runs the call by the last yes that was needed, and the agent reads how it ended', async () => {
    const one = await held({ amount: 5_000 });
    expect(await approve(admin, one, { reason: 'Agreed by phone.' })).toMatchObject({
      status: 200,
      json: { status: 'pending', required: 2, countersigned: 1, you: { why_not: 'already_countersigned' } },
    });
    const signers = (await read(admin, one))['approvers'] as readonly Record<string, unknown>[];
    expect(signers.map(({ countersigned_at, reason }) => [typeof countersigned_at, reason])).toEqual([
      ['string', 'Agreed by phone.'],
      ['object', null],
    ]);
    expect(await approve(admin, one)).toMatchObject({ status: 409, error: { code: 'already_countersigned' } });
    expect(await approve(owner, one)).toMatchObject({
      status: 200,
      json: {
        status: 'approved',
        action: one.action,
        countersigned: 2,
        decided_by: { type: 'user', id: bench.owner },
        you: { eligible: false, why_not: 'approval_decided', may_deny: false },
      },
    });
    expect(await ended(one)).toMatchObject({ status: 'executed', execution: { status: 'succeeded' } });
    expect(upstream.countFor(one.action)).toBe(1);
    expect(await read(admin, one)).toMatchObject({
      status: 'approved',
      deed: expect.stringMatching(/^deed_/) as string,
      approvable: false,
    });
  });

  it('is read, decided and run where the caller spelled a number in another way than the service writes it', async () => {
    const one = await heldBy('{"tool":"pay.refund","args":{"amount":500,"share":1e17},"wait":0}');
    expect(await read(admin, one)).toMatchObject({ approvable: true, context: { args: { amount: 500, share: 1e17 } } });
    expect((await approve(admin, one)).status).toBe(200);
    expect(await ended(one)).toMatchObject({ status: 'executed' });
    expect(JSON.parse(upstream.seen.at(-1)?.body ?? '')).toEqual({ amount: 500, share: 1e17 });
  });

  it('is for nobody to approve if its arguments build no request', async () => {
    const one = await held({ amount: 500, foo: 1 });
    const message = expect.stringContaining('args.foo is no argument of the tool.') as string;
    expect(await read(admin, one)).toMatchObject({ approvable: false, blocked_by: { code: 'conflict', message } });
    expect(await approve(admin, one)).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } });
    expect((await deny(admin, one)).status).toBe(200);
  });

  it('ends by one no, whose answer names the deed of the action', async () => {
    const one = await held();
    expect(await deny(admin, one, { reason: 'Too much.' })).toMatchObject({
      status: 200,
      json: { status: 'denied', reason: 'Too much.', decided_by: { type: 'user' } },
    });
    expect(await ended(one)).toMatchObject({ status: 'denied', execution: null });
    expect(await approve(admin, one)).toMatchObject({ status: 409, error: { code: 'approval_decided' } });
    expect(upstream.countFor(one.action)).toBe(0);
  });

  it('is decided once under one Idempotency-Key', async () => {
    const one = await held();
    const { context_digest } = await read(admin, one);
    const path = `/v1/approvals/${one.approval}/approve`;
    const first = await admin.post(path, { context_digest }, { 'Idempotency-Key': 'yes-1' });
    const again = await admin.post(path, { context_digest }, { 'Idempotency-Key': 'yes-1' });
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('Service-Idempotent-Replayed')).toBe('true');
  });
});

describe('a decision', () => {
  it('is for people: keys are told so, of what they may know of', async () => {
    const one = await held();
    const body = { context_digest: `sha256:${'0'.repeat(64)}` };
    const by = (headers: Record<string, string>, approval = one.approval) =>
      bench.browser().post(`/v1/approvals/${approval}/approve`, body, headers);
    for (const headers of [bench.adminKey, bench.agentKey]) {
      expect(await by(headers)).toMatchObject({ status: 403, error: { code: 'approval_needs_person' } });
      expect(await by(headers, 'apr_00000000000000000000000009')).toMatchObject({ status: 404 });
    }
  });

  it('names what is looked at by a digest that is computed from what is shown (docs/deed-format.md)', async () => {
    const one = await held();
    const { action, context, context_digest } = (await read(admin, one)) as { [member: string]: JsonObject };
    const { tool, rule, facts: request, ...shown } = context as { [member: string]: JsonObject };
    const { agent, approvers, args, expires_at, intent_signed, on_behalf_of, required, session } = shown;
    const { name, description, digest, side_effect } = tool as JsonObject;
    const same = { action, agent, approvers, args, expires_at, intent_signed, on_behalf_of, required, session };
    const ofTool = { side_effect, tool: name, tool_description: description, tool_digest: digest };
    const whole = { ...same, ...ofTool, request, rule_id: rule?.['id'] } as { [member: string]: JsonValue };
    expect(context_digest).toBe(digestOfJson(whole));
  });

  it('names what was looked at', async () => {
    const one = await held();
    const stale = { context_digest: `sha256:${'0'.repeat(64)}` };
    expect(await approve(admin, one, stale)).toMatchObject({ status: 409, error: { code: 'context_changed' } });
    expect(await deny(admin, one, stale)).toMatchObject({ status: 409, error: { code: 'context_changed' } });
    const path = `/v1/approvals/${one.approval}/approve`;
    expect(await admin.post(path, {})).toMatchObject({ status: 400, error: { param: 'context_digest' } });
    expect(await admin.post(path, { context_digest: 'sha256:1' })).toMatchObject({
      error: { param: 'context_digest' },
    });
    const withControl = { ...stale, reason: 'two\nlines' };
    expect(await admin.post(path, withControl)).toMatchObject({ status: 400, error: { param: 'reason' } });
  });

  it('is for approvers, and a yes for others than whom the call runs for', async () => {
    const one = await held({ amount: 1 }, { 'Service-On-Behalf-Of': bench.owner });
    expect(await approve(viewer, one)).toMatchObject({ status: 403, error: { code: 'approver_not_eligible' } });
    expect(await approve(owner, one)).toMatchObject({ status: 403, error: { code: 'self_approval' } });
    const [why_not, some] = ['self_approval', { eligible: false, may_deny: true, has_passkey: false }];
    expect((await read(owner, one))['you']).toEqual({ ...some, why_not });
    expect(await deny(owner, one)).toMatchObject({ status: 200, json: { status: 'denied' } });
  });

  it('waits for the end of a Stop', async () => {
    const one = await held();
    await admin.post('/v1/org/stop');
    expect(await read(admin, one)).toMatchObject({
      status: 'pending',
      approvable: false,
      blocked_by: { code: 'org_stopped' },
    });
    expect(await approve(admin, one)).toMatchObject({ status: 403, error: { code: 'org_stopped' } });
    await owner.post('/v1/org/start');
    expect(await approve(admin, one)).toMatchObject({ status: 200, json: { status: 'approved' } });
  });

  it('is about nothing of another organization, and about no other kind of id', async () => {
    for (const id of ['apr_00000000000000000000000009', 'act_00000000000000000000000009', 'x']) {
      expect(await admin.get(`/v1/approvals/${id}`)).toMatchObject({ status: 404, error: { code: 'not_found' } });
    }
  });
});

describe('the list of approvals', () => {
  const list = async (query = '', browser = admin): Promise<Record<string, unknown>[]> => {
    const { status, json } = await browser.get(`/v1/approvals${query}`);
    expect(status).toBe(200);
    return json['data'] as Record<string, unknown>[];
  };

  it('shows what is pending, what runs out first on top, and to a person whether it is theirs to decide', async () => {
    const [one, two] = [await held(), await held({ amount: 2_000 })];
    await approve(admin, two);
    const rows = await list('?limit=100');
    expect(rows.map(({ status }) => status)).toEqual(rows.map(() => 'pending'));
    const times = rows.map(({ expires_at }) => expires_at as string);
    expect(times).toEqual(times.toSorted());
    expect(rows.find(({ id }) => id === one.approval)).toMatchObject({ you: { eligible: true, why_not: null } });
    expect(rows.find(({ id }) => id === two.approval)).toMatchObject({
      countersigned: 1,
      you: { eligible: false, why_not: 'already_countersigned' },
    });
    expect(rows[0]).not.toHaveProperty('context');
    const byKey = await bench.browser().get('/v1/approvals?limit=1', bench.adminKey);
    expect((byKey.json['data'] as object[])[0]).not.toHaveProperty('you');
  });

  it('is narrowed by status, action, agent and tool, and read in pages', async () => {
    const one = await held();
    await deny(admin, one);
    expect(await list(`?action=${one.action}`)).toEqual([]);
    expect(await list(`?status=denied,expired&action=${one.action}`)).toMatchObject([{ id: one.approval }]);
    expect(await list(`?status=all&action=${one.action}&tool=pay.refund`)).toMatchObject([{ status: 'denied' }]);
    expect(await list('?status=all&agent=agt_00000000000000000000000009')).toEqual([]);
    const whole = (await list('?status=all&limit=100')).map(({ id }) => id);
    const paged: unknown[] = [];
    for (let cursor = ''; ;) {
      const { json } = await admin.get(`/v1/approvals?status=all&limit=3${cursor}`);
      paged.push(...(json['data'] as { id: string }[]).map(({ id }) => id));
      if (json['has_more'] !== true) break;
      cursor = `&cursor=${json['next_cursor'] as string}`;
    }
    expect(paged).toEqual(whole);
  });

  it.each([
    ['status', 'open'],
    ['status', ''],
    ['action', 'apr_00000000000000000000000009'],
    ['agent', 'support'],
    ['tool', ''],
  ])('refuses a filter that means nothing: %s=%s', async (param, value) =>
    expect(await admin.get(`/v1/approvals?${param}=${value}`)).toMatchObject({
      status: 400,
      error: { code: 'validation_failed', param },
    }),
  );
});
