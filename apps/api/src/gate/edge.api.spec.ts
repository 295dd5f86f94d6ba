import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOf } from '#libs/crypto';
import { actionDecider, type ApprovalTerms, type LivingAction, type Submission } from '#libs/domain/gate';
import { streamRef, SYSTEM, timestampOf, type ActionId } from '#libs/domain/kernel';
import { NOW } from '../../../../test/support/given.js';
import { testId } from '../../../../test/support/given-log.js';
import { type Browser, type BrowserAnswer, PeopleBench } from '../../../../test/support/people-bench.js';

const BASE_URL = 'https://ags.example.com';
const POLICY =
  'version: 1\ndefault: deny\nrules:\n  - id: files\n    match:\n      tools:\n        - files.*\n    decision: allow\n';
const CALL = { tool: 'files.write', args: { path: 'a.txt' }, mode: 'proxy', connector_type: 'mcp' };
/** A wait that is longer than any answer in these tests takes. */
const LONG_WAIT = { wait: 25 };
const REPORT = { status: 'succeeded', started_at: NOW, finished_at: NOW, result: { rows: 3, at: null } };
const TIMEOUT_MS = 2_000;

let bench: PeopleBench;
/** A deployment in which calls at the edge must be reported within two seconds. */
let hasty: PeopleBench;
let caller: Browser;

const govern = async (governed: PeopleBench): Promise<void> => {
  const browser = governed.browser();
  const { json } = await browser.post('/v1/policies', { name: 'Edge', source: POLICY }, governed.adminKey);
  const path = `/v1/policies/${String(json['id'])}/versions/1/activate`;
  expect((await browser.post(path, { mode: 'enforce' }, governed.adminKey)).status).toBe(200);
};

beforeAll(async () => {
  bench = await PeopleBench.start();
  hasty = await PeopleBench.start({
    SERVICE_EDGE_RESULT_TIMEOUT_MS: String(TIMEOUT_MS),
    SERVICE_SWEEP_INTERVAL_MS: '100',
  });
  caller = bench.browser();
  await Promise.all([bench, hasty].map(govern));
});
afterAll(() => Promise.all([bench?.close(), hasty?.close()]));

const submit = (fields: object = {}, headers: Record<string, string> = {}): Promise<BrowserAnswer> =>
  caller.post('/v1/actions', { ...CALL, ...LONG_WAIT, ...fields }, { ...bench.agentKey, ...headers });
const report = (id: unknown, body: object = REPORT, headers = bench.agentKey): Promise<BrowserAnswer> =>
  caller.post(`/v1/actions/${String(id)}/result`, body, headers);
const read = async (id: unknown): Promise<Record<string, unknown>> =>
  (await caller.get(`/v1/actions/${String(id)}`, bench.agentKey)).json;

describe('POST /v1/actions in the mode proxy', () => {
  it('answers at once even if it may wait: authorized, with how to report', async () => {
    const askedMs = Date.now();
    const { status, json } = await submit();
    expect(Date.now() - askedMs).toBeLessThan(10_000);
    const { id, created_at } = json;
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({
        mode: 'proxy',
        state: 'executing',
        status: 'authorized',
        execution: null,
        deed: null,
        next_action: {
          type: 'execute_at_edge',
          report_url: `${BASE_URL}/v1/actions/${String(id)}/result`,
          deadline: timestampOf(Date.parse(String(created_at)) + 600_000),
        },
      }),
    ]);
  });

  it('can be waited for with GET, until its report changes its state or the wait ends', async () => {
    const { id } = (await submit()).json;
    const askedMs = performance.now();
    const { json } = await caller.get(`/v1/actions/${String(id)}?wait=1`, bench.agentKey);
    expect(performance.now() - askedMs).toBeGreaterThan(900);
    expect(json).toMatchObject({ status: 'authorized', next_action: { type: 'execute_at_edge' } });
    const answered = caller.get(`/v1/actions/${String(id)}?wait=25`, bench.agentKey);
    await report(id);
    expect((await answered).json).toMatchObject({ status: 'executed' });
  });

  it('answers its Idempotency-Key with the same address and deadline', async () => {
    const [key, first] = [{ 'Idempotency-Key': 'edge' }, await submit({}, { 'Idempotency-Key': 'edge' })];
    const again = await submit({}, key);
    expect(again.headers.get('service-idempotent-replayed')).toBe('true');
    expect([again.status, again.json]).toEqual([first.status, first.json]);
  });

  it('is listed among executing actions', async () => {
    const { id } = (await submit()).json;
    const { json } = await caller.get('/v1/actions?state=executing&limit=1', bench.adminKey);
    expect(json['data']).toEqual([expect.objectContaining({ id, status: 'authorized' })]);
  });
});

describe('POST /v1/actions/{id}/result', () => {
  it('answers with the sealed action, and the result is shown from then on', async () => {
    const { id } = (await submit()).json;
    const { status, json } = await report(id);
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({
        state: 'sealed',
        status: 'executed',
        witness: expect.objectContaining({ verdict: 'VERIFIED', method: 'edge_reported', reasons: [] }),
        execution: expect.objectContaining({
          status: 'succeeded',
          attempts: 0,
          started_at: NOW,
          result: REPORT.result,
        }),
        next_action: null,
        deed: expect.stringMatching(/^deed_/),
      }),
    ]);
    expect(await read(id)).toMatchObject({
      result: REPORT.result,
      events: expect.arrayContaining([expect.objectContaining({ type: 'EdgeReported' })]),
    });
  });

  it('takes a failure, with the code and message of the agent', async () => {
    const { id } = (await submit()).json;
    const words = { error_code: 'no_such_row', error_message: 'Row 42 is gone.' };
    const { started_at, finished_at } = REPORT;
    const { json } = await report(id, { status: 'failed', started_at, finished_at, ...words });
    expect(json).toMatchObject({ status: 'failed', witness: null, execution: { ...words, result: null } });
  });

  it('refuses a message with control characters', async () => {
    const { id } = (await submit()).json;
    const { started_at, finished_at } = REPORT;
    const words = { error_code: 'no_such_row', error_message: 'Row 42\u001b[2J is gone.' };
    expect(await report(id, { status: 'failed', started_at, finished_at, ...words })).toMatchObject({
      status: 400,
      json: { error: { code: 'validation_failed', param: 'error_message' } },
    });
  });

  it('takes the digest of a result that the edge keeps', async () => {
    const { id } = (await submit()).json;
    const { result, ...rest } = REPORT;
    await report(id, { ...rest, result_digest: digestOf(JSON.stringify(result)) });
    expect(await read(id)).toMatchObject({ state: 'sealed', result: null });
  });

  it('takes null for the result of a tool that answers nothing', async () => {
    const { id } = (await submit()).json;
    expect((await report(id, { ...REPORT, result: null })).json).toMatchObject({ execution: { result: null } });
  });

  it('is answered again under its Idempotency-Key, and refused without one', async () => {
    const { id } = (await submit()).json;
    const key = { ...bench.agentKey, 'Idempotency-Key': `report of ${String(id)}` };
    const first = await report(id, REPORT, key);
    const again = await report(id, REPORT, key);
    expect([again.status, again.json]).toEqual([200, first.json]);
    expect((await report(id)).error).toMatchObject({ code: 'conflict' });
  });

  it('is not for another agent', async () => {
    const { id } = (await submit()).json;
    const { json } = await caller.post('/v1/agents', { name: 'other', key: {} }, bench.adminKey);
    const other = { Authorization: `Bearer ${String(json['secret'])}` };
    for (const refused of [
      await report(id, REPORT, other),
      await caller.post(`/v1/actions/${String(id)}/cancel`, {}, other),
    ]) {
      expect([refused.status, refused.error['code']]).toEqual([404, 'not_found']);
    }
  });

  it('is accepted from an agent that was stopped meanwhile, because the tool ran', async () => {
    const { id, agent } = (await submit()).json as { id: string; agent: { id: string } };
    await caller.post(`/v1/agents/${agent.id}/stop`, {}, bench.adminKey);
    expect(await report(id)).toMatchObject({ status: 200, json: { state: 'sealed' } });
    expect((await submit()).error).toMatchObject({ code: 'agent_stopped' });
    await caller.post(`/v1/agents/${agent.id}/resume`, {}, bench.adminKey);
  });

  it('comes too late after the deadline: the outcome is unknown, and sealed', async () => {
    const impatient = hasty.browser();
    const { json } = await impatient.post('/v1/actions', CALL, hasty.agentKey);
    const path = `/v1/actions/${String(json['id'])}`;
    await vi.waitFor(async () => expect((await impatient.get(path, hasty.agentKey)).json['state']).toBe('sealed'), {
      timeout: 20_000,
      interval: 100,
    });
    expect((await impatient.get(path, hasty.agentKey)).json).toMatchObject({
      status: 'executed',
      execution: { status: 'unknown', error_code: 'timeout' },
      witness: { verdict: 'UNVERIFIABLE', reasons: ['edge_lost'] },
    });
    const late = await impatient.post(`${path}/result`, REPORT, hasty.agentKey);
    expect([late.status, late.error['code']]).toEqual([409, 'conflict']);
  });
});

/** An action that waits for approval, under the id that a call with this Idempotency-Key gets. */
const pending = async (key: string, expiresAt = timestampOf(Date.now() + 600_000)): Promise<ActionId> => {
  const { deployment, org } = bench;
  const { streams, runner, ids } = deployment;
  const { id } = (await submit()).json;
  const { state } = await streams.load(streamRef(actionDecider, id as ActionId));
  const { submission: known } = state as LivingAction;
  const action = ids.actionId(org, known.agent, key, 0);
  const submission: Submission = { ...known, action, idempotency_key_hash: ids.keyHash(org, known.agent, key) };
  const decision = { ...(state as LivingAction).decision!, outcome: 'require_approval' as const };
  const approval: ApprovalTerms = {
    approval: testId('apr', 1),
    rule_id: null,
    approvers: ['role:admin'],
    required: 1,
    context_digest: digestOf('context'),
    expires_at: expiresAt,
  };
  const metadata = { org, actor: SYSTEM, requestId: null, commandId: `pending ${key}`, now: timestampOf(Date.now()) };
  const data = { submission, decision, execution: null, approval, claimant: null };
  await runner.run(actionDecider, action, { type: 'SubmitAction', data, metadata }, metadata);
  return action;
};

describe('an action that waits for a person', () => {
  it('is answered as pending, with a URL to poll, and a retry under its key is answered at once', async () => {
    const id = await pending('waits');
    const again = await submit({}, { 'Idempotency-Key': 'waits' });
    expect([again.status, again.json]).toEqual([
      202,
      expect.objectContaining({
        id,
        state: 'pending_approval',
        status: 'pending_approval',
        approval: expect.objectContaining({ id: testId('apr', 1), status: 'pending' }),
        next_action: { type: 'await_approval', poll_url: `${BASE_URL}/v1/actions/${id}?wait=25` },
      }),
    ]);
    const { json } = await caller.get('/v1/actions?state=pending_approval', bench.adminKey);
    expect(json['data']).toEqual(expect.arrayContaining([expect.objectContaining({ id })]));
  });

  it('is cancelled by its agent, which ends the wait for it; its key answers so from then on', async () => {
    const id = await pending('withdrawn');
    const waiting = caller.get(`/v1/actions/${id}?wait=25`, bench.agentKey);
    const cancelled = await caller.post(`/v1/actions/${id}/cancel`, {}, bench.agentKey);
    expect(cancelled).toMatchObject({
      status: 200,
      json: { state: 'sealed', status: 'cancelled', execution: null, approval: { status: 'cancelled' } },
    });
    expect((await waiting).json['status']).toBe('cancelled');
    const again = await submit({}, { 'Idempotency-Key': 'withdrawn' });
    expect([again.status, again.error]).toEqual([
      409,
      expect.objectContaining({ code: 'conflict', action: expect.objectContaining({ id, status: 'cancelled' }) }),
    ]);
    const twice = await caller.post(`/v1/actions/${id}/cancel`, {}, bench.agentKey);
    expect([twice.status, twice.error['code']]).toEqual([409, 'conflict']);
  });

  it('is cancelled by an admin, and by no viewer', async () => {
    await bench.giveAddress(bench.owner, 'owner@example.com');
    const owner = await bench.ownerBrowser();
    const [admin, viewer] = [
      await bench.member(owner, 'admin@example.com', 'admin'),
      await bench.member(owner, 'viewer@example.com', 'viewer'),
    ];
    const id = await pending('administered');
    const refused = await viewer.post(`/v1/actions/${id}/cancel`);
    expect([refused.status, refused.error['code']]).toEqual([403, 'insufficient_role']);
    expect((await admin.post(`/v1/actions/${id}/cancel`)).json).toMatchObject({ status: 'cancelled' });
  });

  it('expires by itself, and its key answers so', async () => {
    const id = await pending('expires', timestampOf(Date.now() + 1_000));
    await vi.waitFor(async () => expect((await read(id))['state']).toBe('sealed'), { timeout: 20_000, interval: 100 });
    const again = await submit({}, { 'Idempotency-Key': 'expires' });
    expect([again.status, again.error]).toEqual([
      409,
      expect.objectContaining({ code: 'approval_expired', action: expect.objectContaining({ id, status: 'expired' }) }),
    ]);
  });

  it('is denied by a person, and its key answers with the reason of that person', async () => {
    const id = await pending('denied');
    const metadata = { org: bench.org, actor: SYSTEM, requestId: null, commandId: 'no', now: timestampOf(Date.now()) };
    const answer = {
      by: bench.owner,
      via: 'console',
      context_digest: digestOf('context'),
      reason: 'Too much',
    } as const;
    const data = { approval: testId('apr', 1), answer };
    await bench.deployment.runner.run(actionDecider, id, { type: 'DenyApproval', data, metadata }, metadata);
    const again = await submit({}, { 'Idempotency-Key': 'denied' });
    expect([again.status, again.error]).toEqual([
      403,
      expect.objectContaining({
        code: 'policy_denied',
        message: expect.stringContaining('Too much'),
        action: expect.objectContaining({ id, status: 'denied', state: 'sealed' }),
      }),
    ]);
  });
});
