import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyBundle } from '#libs/crypto';
import { undescribedIn } from '../http/described-answer.js';
import { connectCrm, UPSTREAM_TOKEN } from '../support/crm.js';
import { startService, type Answer, type RunningService } from '../support/service.js';
import { upToDate } from '../support/up-to-date.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

let service: RunningService;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream(({ headers, path }, response) => {
    if (headers['authorization'] !== `Bearer ${UPSTREAM_TOKEN}`) return void response.writeHead(401).end();
    if (path.includes('missing')) return void response.writeHead(404).end('{"error":"no such customer"}');
    if (path.includes('broken')) return void response.writeHead(500).end('{"error":"boom"}');
    const answer = JSON.stringify({ name: 'Ada', echo: headers['authorization'] });
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b' }).end(answer);
  });
  service = await startService();
  await connectCrm(service, upstream.baseUrl);
});

afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});

const submit = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  service.call('POST', '/v1/actions', { key: service.agentKey, body, headers });

const note = (text: string) => ({ tool: 'crm.add_note', args: { id: '42', text } });

describe('POST /v1/actions', () => {
  it('runs an allowed call with a credential the agent never sees, and answers with the sealed action', async () => {
    const answer = await submit(note('hello'));
    expect(answer).toMatchObject({
      status: 200,
      json: {
        object: 'action',
        livemode: false,
        tool: 'crm.add_note',
        mode: 'gateway',
        state: 'sealed',
        status: 'executed',
        decision: { outcome: 'allow', code: null, source: 'rule', rule_id: 'crm', message: null },
        execution: { status: 'succeeded', error_code: null, result: { status: 200, body: { name: 'Ada' } } },
        witness: { level: 'L0', verdict: 'VERIFIED', method: 'reported', reasons: [] },
      },
    });
    expect(answer.json['deed']).toMatch(/^deed_/);
    expect(upstream.countFor(String(answer.json['id']))).toBe(1);
    expect(answer.text).not.toContain(UPSTREAM_TOKEN);
    expect(answer.text).not.toContain('set-cookie');
  });

  it('keeps the trace that the call belongs to, and tells the tool', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const { json } = await submit(note('traced'), { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    expect(json).toMatchObject({ state: 'sealed', trace_id: trace });
    const sent = upstream.seen.filter(({ headers }) => headers['service-action-id'] === json['id']);
    expect(sent.map(({ headers }) => headers['traceparent'])).toEqual([
      expect.stringMatching(new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`)),
    ]);
    const read = await service.call('GET', `/v1/actions/${String(json['id'])}`, { key: service.agentKey });
    expect(read.json).toMatchObject({ trace_id: trace });
    const list = await upToDate(() => service.call('GET', '/v1/actions?limit=1', { key: service.agentKey }));
    expect(list.json).toMatchObject({ data: [{ id: json['id'], trace_id: trace }] });
  });

  it('refuses no call for a trace that cannot be read', async () => {
    const { json } = await submit(note('untraced'), { traceparent: '00-nonsense-01' });
    expect(json).toMatchObject({ state: 'sealed', trace_id: null });
    const sent = upstream.seen.filter(({ headers }) => headers['service-action-id'] === json['id']);
    expect(sent.map(({ headers }) => headers['traceparent'])).toEqual([undefined]);
  });

  it.each([
    ['what the upstream does not have is failed', 'missing', 'failed', 'failed', 'upstream_not_found'],
    ['what broke upstream is unknown', 'broken', 'executed', 'unknown', 'upstream_error'],
  ])('%s', async (_title, id, status, execution, code) => {
    const answer = await submit({ tool: 'crm.add_note', args: { id, text: 'x' } });
    expect(answer).toMatchObject({ status: 200, json: { status, execution: { status: execution, error_code: code } } });
  });

  it('refuses by the policy with the rule’s own sentence and the sealed action', async () => {
    const answer = await submit({ tool: 'crm.delete_customer', args: { id: '42' } });
    expect(answer).toMatchObject({
      status: 403,
      error: {
        type: 'policy_error',
        code: 'policy_denied',
        message: 'Customers are never deleted by an agent.',
        param: null,
        action: { state: 'sealed', status: 'denied', execution: null, witness: null },
      },
    });
    const { action, request_id: requestId } = answer.error as {
      action: { id: string; deed: string };
      request_id: string;
    };
    expect(action.deed).toMatch(/^deed_/);
    expect(answer.headers.get('service-request-id')).toBe(requestId);
    expect(upstream.countFor(action.id)).toBe(0);
  });

  it.each(['erp.get', 'Crm.get_customer', 'сrm.get_customer', 'crm', 'crm.no_such_tool', 'service.x'])(
    'an unknown tool %j is recorded, sealed, and 404 tool_unknown',
    async (tool) => {
      const answer = await submit({ tool });
      expect(answer).toMatchObject({
        status: 404,
        error: { type: 'invalid_request_error', code: 'tool_unknown', action: { status: 'denied', state: 'sealed' } },
      });
    },
  );

  it('with wait 0 answers 202 processing, and the action ends all the same', async () => {
    const answer = await submit({ ...note('later'), wait: 0 });
    expect(answer.status).toBe(202);
    expect(answer.json['status']).toBe('processing');
    const path = `/v1/actions/${String(answer.json['id'])}?wait=25`;
    // As docs/api-conventions.md has a client wait for the deed: each answer is a change, and the last is the seal.
    const states: unknown[] = [];
    let read: Answer;
    do {
      read = await service.call('GET', path, { key: service.agentKey });
      expect(read.status).toBe(200);
      states.push(read.json['state']);
    } while (states.at(-1) !== 'sealed' && states.length < 5);
    expect(states.at(-1)).toBe('sealed');
    expect(new Set(states).size).toBe(states.length);
    expect(read.json['deed']).toMatch(/^deed_/);
  });

  it.each([
    ['no tool', {}, 'tool'],
    ['a tool that is no string', { tool: 5 }, 'tool'],
    ['args that are no object', { tool: 'crm.get_customer', args: [] }, 'args'],
    ['a wait of 26', { tool: 'crm.get_customer', wait: 26 }, 'wait'],
    ['a wait of -1', { tool: 'crm.get_customer', wait: -1 }, 'wait'],
    ['a fractional wait', { tool: 'crm.get_customer', wait: 1.5 }, 'wait'],
    ['another mode', { tool: 'crm.get_customer', mode: 'direct' }, 'mode'],
    ['a field nobody knows', { tool: 'crm.get_customer', colour: 'red' }, 'colour'],
  ])('with %s is 400 validation_failed and creates no action', async (_title, body, param) => {
    const before = upstream.seen.length;
    expect(await submit(body)).toMatchObject({ status: 400, error: { code: 'validation_failed', param } });
    expect(upstream.seen).toHaveLength(before);
  });

  it('is read again whole by its id (rule GATE-14)', async () => {
    const { json } = await submit(note('detail'));
    const path = `/v1/actions/${String(json['id'])}`;
    const answer = await service.call('GET', path, { key: service.agentKey });
    expect(undescribedIn('GET', path, answer)).toEqual([]);
    const events = ['ActionSubmitted', 'ActionDecided', 'ExecutionReady', 'ExecutionStarted', 'ExecutionFinished'];
    expect(answer.json).toMatchObject({
      request: { tool: 'crm.add_note', args: { id: '42', text: 'detail' }, mode: 'gateway' },
      result: { status: 200, body: { name: 'Ada' } },
      witness: { level: 'L0', reasons: [], detail: null },
      events: [...events, 'ActionWitnessed'].map((type) => ({ type })),
      deeds: [{ object: 'deed_summary', id: json['deed'] }],
      approval: null,
    });
  });

  it('needs an agent key with actions:execute', async () => {
    const asAdmin = await service.call('POST', '/v1/actions', { key: service.adminKey, body: note('x') });
    expect(asAdmin).toMatchObject({ status: 403, error: { code: 'insufficient_scope' } });
    const asNobody = await service.call('POST', '/v1/actions', { body: note('x') });
    expect(asNobody).toMatchObject({ status: 401, error: { code: 'authentication_required' } });
  });
});

describe('an Idempotency-Key', () => {
  it('used a thousand times at once is one action and one call upstream', async () => {
    const headers = { 'Idempotency-Key': 'thousand' };
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => submit(note('once'), headers)));
    const ids = new Set(answers.map(({ json }) => json['id']));
    expect(ids.size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('service-idempotent-replayed') === 'true')).toHaveLength(999);
    expect(upstream.countFor(String([...ids][0]))).toBe(1);
  });

  it('replays a refusal with its status, message and deed', async () => {
    const headers = { 'Idempotency-Key': 'refused' };
    const body = { tool: 'crm.delete_customer', args: { id: '7' } };
    const [first, second] = [await submit(body, headers), await submit(body, headers)];
    expect(second.status).toBe(first.status);
    expect(second.error).toMatchObject({ message: first.error['message'], action: first.error['action'] });
    expect(second.headers.get('service-idempotent-replayed')).toBe('true');
  });

  it('with a different request is 422', async () => {
    const headers = { 'Idempotency-Key': 'twice' };
    await submit(note('a'), headers);
    expect(await submit(note('b'), headers)).toMatchObject({
      status: 422,
      error: { code: 'idempotency_conflict', param: 'Idempotency-Key' },
    });
  });
});

describe('GET /v1/actions/{id}', () => {
  it('shows the request, the result, the events and the deed', async () => {
    const { json } = await submit(note('detail'));
    const detail = await service.call('GET', `/v1/actions/${String(json['id'])}`, { key: service.agentKey });
    expect(detail).toMatchObject({
      status: 200,
      json: {
        status: 'executed',
        request: { tool: 'crm.add_note', args: { id: '42', text: 'detail' }, mode: 'gateway' },
        result: { status: 200 },
        deeds: [{ object: 'deed_summary', id: json['deed'], kind: 'action' }],
      },
    });
    const types = (detail.json['events'] as { type: string }[]).map(({ type }) => type);
    expect(types).toEqual([
      'ActionSubmitted',
      'ActionDecided',
      'ExecutionReady',
      'ExecutionStarted',
      'ExecutionFinished',
      'ActionWitnessed',
    ]);
  });

  it('that does not exist, or is no id, is 404 alike', async () => {
    for (const id of ['act_00000000000000000000000000', 'act_x', 'nonsense']) {
      const answer = await service.call('GET', `/v1/actions/${id}`, { key: service.agentKey });
      expect(answer).toMatchObject({ status: 404, error: { code: 'not_found' } });
    }
  });
});

describe('what was done is evidence', () => {
  it('the list shows it, newest first, right after the answer', async () => {
    const { json } = await submit(note('listed'));
    const list = await upToDate(() => service.call('GET', '/v1/actions?limit=1', { key: service.agentKey }));
    expect(list).toMatchObject({
      status: 200,
      json: { object: 'list', data: [{ id: json['id'], state: 'sealed' }], has_more: true },
    });
    expect(list.text).not.toContain('"result"');
  });

  it('the export verifies offline under the pinned key, and not with one bit flipped', async () => {
    const response = await fetch(`${service.baseUrl}/v1/deeds/export`, {
      headers: { Authorization: `Bearer ${service.adminKey}` },
    });
    expect(response.headers.get('content-type')).toBe('application/gzip');
    const bundle = Buffer.from(await response.arrayBuffer());
    const path = join(service.stateDir, 'bundle.tar.gz');
    await writeFile(path, bundle);
    const options = { org: service.org, pins: [service.pin] };
    expect(await verifyBundle(path, options)).toMatchObject({ result: 'intact', first_seq: 1, links_intact: true });
    const middle = Math.floor(bundle.length / 2);
    bundle[middle] = (bundle[middle] as number) ^ 1;
    await writeFile(path, bundle);
    expect((await verifyBundle(path, options)).result).not.toBe('intact');
  });
});
