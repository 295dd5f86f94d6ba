import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { canonicalize, commitmentOf, type JsonObject } from '#libs/crypto';
import { LogAudit } from '#libs/domain/ledger';
import { START, streamOf } from '#libs/domain/kernel';
import { type BrowserAnswer, PeopleBench } from '../../../../test/support/people-bench.js';
import { refundsUpstream, refundTools } from '../../../../test/support/refunds-upstream.js';
import { type Answer, startUpstream, type Upstream } from '../../../../test/support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: refunds
    match:
      tools:
        - pay.*
    decision: allow
`;
const args = { charge: 'ch_1', amount: 500 };

type Response = Parameters<Answer>[1];

/** Set by a test to answer reads in place of the payments API. */
let inItsPlace: ((response: Response) => void) | null = null;
const payments = refundsUpstream({
  onRead: (_, response) => {
    inItsPlace?.(response);
    return inItsPlace === null;
  },
});
let bench: PeopleBench;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream(payments.answer);
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  const config = {
    base_url: upstream.baseUrl,
    allowed_methods: ['GET', 'POST'],
    allowed_path_prefixes: ['/v1'],
    tools: [...refundTools(), { name: 'note', method: 'POST', path: '/v1/notes' }],
  };
  await made('/v1/connectors', { type: 'rest', name: 'pay', config });
  const { id } = await made('/v1/policies', { name: 'Refunds', source: POLICY });
  expect((await post(`/v1/policies/${String(id)}/versions/1/activate`, { mode: 'enforce' })).status).toBe(200);
});
afterAll(async () => {
  await bench?.close();
  await upstream?.close();
});

const post = (path: string, body: unknown, headers = bench.adminKey): Promise<BrowserAnswer> =>
  bench.browser().post(path, body, headers);

const made = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
  const { status, json } = await post(path, body);
  expect([path, status]).toEqual([path, 201]);
  return json;
};

const act = async (tool: string, given: JsonObject = {}): Promise<BrowserAnswer> =>
  post('/v1/actions', { tool, args: given, wait: 25 }, bench.agentKey);

const read = async (id: unknown): Promise<Record<string, JsonObject & JsonObject[]>> =>
  (await bench.browser().get(`/v1/actions/${String(id)}`, bench.adminKey)).json as never;

const confirm = (id: unknown, headers = bench.adminKey): Promise<BrowserAnswer> =>
  bench.browser().send('POST', `/v1/actions/${String(id)}/witness`, undefined, headers);

/** The audit of the whole log, as `ags audit` makes it. */
const audited = async () => {
  const { store } = bench.deployment.database;
  const audit = new LogAudit();
  for (const recorded of await store.readAll(START, 10_000)) {
    if (audit.mustRecall(recorded)) audit.recall(await store.readStream(recorded.stream, { limit: recorded.revision }));
    audit.step(recorded);
  }
  return audit.verdict();
};

describe('GET /v1/actions/{id} of a tool that is read back', () => {
  it('shows expected and seen side by side, with the commitment that the deed holds', async () => {
    const { status, json } = await act('pay.refund', args);
    expect([status, json['witness']]).toEqual([
      200,
      expect.objectContaining({ level: 'L1', verdict: 'VERIFIED', method: 'read_back', reasons: [] }),
    ]);
    const { witness, deeds, events } = await read(json['id']);
    const detail = witness!['detail'] as JsonObject;
    expect(detail).toMatchObject({ expected: { 'body.amount': 500 }, observed: { 'body.amount': 500 }, differs: [] });
    expect(deeds).toHaveLength(1);
    expect(events!.map(({ type }) => type).slice(-2)).toEqual(['ExecutionFinished', 'ActionWitnessed']);
    const deed = (await bench.browser().get(`/v1/deeds/${String(json['deed'])}`, bench.adminKey)).json;
    const { data } = (await bench.browser().get(`/v1/deeds/${String(json['deed'])}/evidence`, bench.adminKey)).json as {
      data: readonly { member: string; salt: string; value: JsonObject }[];
    };
    const given = data.find(({ member }) => member === 'witness.evidence_digest');
    expect(given?.value).toEqual(detail);
    expect(JSON.stringify(deed)).toContain(commitmentOf(given?.salt ?? '', canonicalize(detail)));
  });

  it('shows the agent all but the answer, because its policy may deny it the read tool', async () => {
    const { json } = await act('pay.refund', args);
    const path = `/v1/actions/${String(json['id'])}`;
    const own = await bench.browser().get(path, bench.agentKey);
    expect((own.json['witness'] as JsonObject)['detail']).toEqual({
      expected: { 'body.amount': 500, 'body.charge': 'ch_1', 'body.id': 're_1' },
      observed: { 'body.amount': 500, 'body.charge': 'ch_1', 'body.id': 're_1' },
      differs: [],
    });
    expect((await read(json['id']))['witness']!['detail']).toMatchObject({ answer: { status: 200 } });
  });

  it('shows no evidence if the tool is not read back', async () => {
    const { json } = await act('pay.list_refunds', { charge: 'ch_1' });
    expect((await read(json['id']))['witness']).toMatchObject({ level: 'L0', detail: null });
  });
});

describe('GET /v1/tools', () => {
  it('says what is read back, and at which levels', async () => {
    const { json } = await bench.browser().get('/v1/tools', bench.adminKey);
    const tools = (json['data'] as JsonObject[]).map(({ name, levels, read_back }) => [name, levels, read_back]);
    expect(tools).toContainEqual([
      'pay.refund',
      ['L0', 'L1'],
      'Reads get_refund and compares body.amount, body.charge, body.id.',
    ]);
    expect(tools).toContainEqual(['pay.note', ['L0'], null]);
  });
});

describe('POST /v1/actions/{id}/witness', () => {
  it('amends the witness by a new read, with a deed of its own', async () => {
    const { json } = await act('pay.refund', args);
    const id = json['id'];
    payments.refunds.set('re_1', { id: 're_1', charge: 'ch_1', amount: 7 });
    const amended = await confirm(id);
    expect([amended.status, amended.json]).toEqual([
      200,
      expect.objectContaining({
        status: 'executed',
        deed: json['deed'],
        witness: expect.objectContaining({ verdict: 'MISMATCH', reasons: ['body.amount'] }) as object,
      }),
    ]);
    await vi.waitFor(async () => expect((await read(id))['deeds']).toHaveLength(2), 20_000);
    const { deeds, witness } = await read(id);
    expect(deeds!.map(({ kind, action }) => [kind, action])).toEqual([
      ['action', id],
      ['amendment', id],
    ]);
    expect(witness!['detail']).toMatchObject({ observed: { 'body.amount': 7 }, differs: ['body.amount'] });
    await vi.waitFor(async () => {
      const list = await bench.browser().get('/v1/actions?verdict=MISMATCH', bench.adminKey);
      expect((list.json['data'] as JsonObject[]).map((row) => row['id'])).toEqual([id]);
    }, 20_000);
  });

  it('leaves an intact ledger, and an audit without faults', async () => {
    expect(await bench.browser().get('/v1/ledger/check', bench.adminKey)).toMatchObject({ json: { result: 'intact' } });
    expect(await audited()).toMatchObject({ faultCount: 0, faults: [], unsealed: 0 });
  });

  it.each<[string, (response: Response) => void]>([
    ['upstream_error', (response) => response.writeHead(500).end()],
    ['answer_not_kept', (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('png')],
  ])('a read that does not say what is there amends nothing: %s', async (reason, answers) => {
    const { json } = await act('pay.refund', args);
    inItsPlace = answers;
    const { status, error } = await confirm(json['id']);
    inItsPlace = null;
    expect([status, error['code']]).toEqual([503, 'connector_unavailable']);
    expect(error['message']).toContain(reason);
    expect((await read(json['id']))['witness']).toMatchObject({ verdict: 'VERIFIED' });
  });

  it('is not prevented by a Stop of the agent, because a person asks', async () => {
    const { json } = await act('pay.refund', args);
    const { id: agent } = json['agent'] as { id: string };
    await post(`/v1/agents/${agent}/stop`, { reason: 'wrong refunds' });
    expect((await confirm(json['id'])).status).toBe(200);
    await post(`/v1/agents/${agent}/resume`, {});
  });

  it('is refused if there is nothing to read back', async () => {
    const note = await act('pay.list_refunds');
    expect(await confirm(note.json['id'])).toMatchObject({ status: 409, error: { code: 'conflict' } });
    const denied = await act('absent.tool');
    const { id } = denied.error['action'] as JsonObject;
    expect(await confirm(id)).toMatchObject({ status: 409, error: { code: 'conflict' } });
    expect(await confirm(`act_${'0'.repeat(26)}`)).toMatchObject({ status: 404 });
    expect(await confirm(note.json['id'], bench.agentKey)).toMatchObject({ status: 403 });
  });

  it('reads once under one Idempotency-Key', async () => {
    const { json } = await act('pay.refund', args);
    const headers = { ...bench.adminKey, 'Idempotency-Key': 'again' };
    const answers = [await confirm(json['id'], headers), await confirm(json['id'], headers)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const events = await bench.deployment.database.store.readStream(streamOf('action', String(json['id'])));
    expect(events.filter(({ type }) => type === 'WitnessAmended')).toHaveLength(1);
  });
});
