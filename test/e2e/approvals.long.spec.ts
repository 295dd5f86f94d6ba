import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { StagePeople } from '../http/error-codes/stage-people.js';
import { headersOf, type Sent, type Session } from '../http/error-codes/sent.js';
import { connectCrm } from '../support/crm.js';
import { type Answer, startService, type RunningService } from '../support/service.js';
import { SoftAuthenticator } from '../support/soft-authenticator.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: asked
    match:
      tools:
        - crm.*
    decision: require_approval
`;
const PATIENCE = { timeout: 60_000, interval: 100 };

let service: RunningService;
let upstream: Upstream;
let people: StagePeople;

const send = (method: string, path: string, { json, headers = {}, as }: Sent = {}): Promise<Answer> =>
  service.call(method, path, {
    ...(json === undefined ? {} : { body: json }),
    headers: { ...headers, ...(as === undefined ? {} : headersOf(method, as)) },
  });

beforeAll(async () => {
  upstream = await startUpstream();
  // At the first yes of each life of the process.
  service = await startService({ env: { LOG_LEVEL: 'info', SERVICE_FAILPOINTS: 'apr.resume=kill@1' } });
  people = new StagePeople({ send, printed: () => service.output, ownerToken: () => service.signInToken });
  await people.signOwnerIn();
  await connectCrm(service, upstream.baseUrl);
  const key = service.adminKey;
  const made = await service.call('POST', '/v1/policies', { key, body: { name: 'Asks', source: POLICY } });
  const path = `/v1/policies/${String(made.json['id'])}/versions/1/activate`;
  expect((await service.call('POST', path, { key, body: { mode: 'enforce' } })).status).toBe(200);
});
afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});

const held = async (text: string): Promise<string> => {
  const body = { tool: 'crm.add_note', args: { id: '42', text }, wait: 0 };
  const { json } = await service.call('POST', '/v1/actions', { key: service.agentKey, body });
  expect(json).toMatchObject({ status: 'pending_approval' });
  return String(json['id']);
};
const arm = async (order: string): Promise<void> => {
  await writeFile(join(service.stateDir, 'failpoints'), order);
  const saidBefore = service.output.length;
  process.kill(service.pid, 'SIGUSR2');
  await vi.waitFor(() => expect(service.output.slice(saidBefore)).toContain('failpoints are armed'), PATIENCE);
};
const approvalOf = (action: string): string => `/v1/approvals/${action.replace('act_', 'apr_')}`;
const approve = async (action: string, as: Session, headers: Record<string, string> = {}): Promise<Answer> => {
  const { json } = await send('GET', approvalOf(action), { as });
  const { context_digest } = json;
  return send('POST', `${approvalOf(action)}/approve`, { as, json: { context_digest }, headers });
};

describe('kill -9 after the yes stands in the log, before anybody was told', () => {
  it('the next start runs the call, once, and the same request answers what was decided', async () => {
    const action = await held('after the yes');
    const exited = service.exited();
    const lost = approve(action, people.owner, { 'Idempotency-Key': 'yes-1' }).then(
      () => 'answered',
      () => 'lost',
    );
    expect(await exited).toMatchObject({ signal: 'SIGKILL' });
    expect(await lost).toBe('lost');
    expect(upstream.countFor(action)).toBe(0);
    await service.start();
    const ended = await vi.waitFor(async () => {
      const { json } = await service.call('GET', `/v1/actions/${action}?wait=5`, { key: service.agentKey });
      expect(json['state']).toBe('sealed');
      return json;
    }, PATIENCE);
    expect(ended).toMatchObject({ status: 'executed', execution: { status: 'succeeded' } });
    expect(upstream.countFor(action)).toBe(1);
    const { json } = await send('GET', approvalOf(action), { as: people.owner });
    expect(json).toMatchObject({ status: 'approved', countersigned: 1, deed: ended['deed'] });
    const check = await service.call('GET', '/v1/ledger/check', { key: service.adminKey });
    expect(check.json).toMatchObject({ result: 'intact' });
  });
});

describe('kill -9 between what a passkey signed and the decision', () => {
  it('leaves the approval waiting; signed again, it is decided, and the call runs once', async () => {
    const device = new SoftAuthenticator({
      rpId: 'localhost',
      origin: `http://localhost:${new URL(service.baseUrl).port}`,
    });
    const as = people.owner;
    const challenge = ({ json }: Answer): string => (json['public_key'] as { challenge: string }).challenge;
    const credential = device.register(challenge(await send('POST', '/v1/passkeys/options', { as })));
    expect((await send('POST', '/v1/passkeys', { as, json: { name: 'Key', credential } })).status).toBe(201);
    await send('PATCH', '/v1/org', { as, json: { approvals: { signed: true } } });
    const action = await held('signed');
    await arm('apr.assertion=kill@1');
    const { json } = await send('GET', approvalOf(action), { as });
    const { context_digest } = json;
    const asked = { as, json: { decision: 'approve', context_digest } };
    const passkey = device.sign(challenge(await send('POST', `${approvalOf(action)}/passkey/options`, asked)));
    const yes = { as, json: { context_digest, passkey }, headers: { 'Idempotency-Key': 'signed-yes' } };
    const exited = service.exited();
    const lost = send('POST', `${approvalOf(action)}/approve`, yes).then(
      () => 'answered',
      () => 'lost',
    );
    expect(await exited).toMatchObject({ signal: 'SIGKILL' });
    expect(await lost).toBe('lost');
    await service.start();
    await arm('none');
    expect((await send('GET', approvalOf(action), { as })).json).toMatchObject({ status: 'pending', countersigned: 0 });
    // The challenge is the same as before. Only the port, and with it the page's origin, changed with the start.
    const lies = { origin: `http://localhost:${new URL(service.baseUrl).port}` };
    const signed = device.sign(challenge(await send('POST', `${approvalOf(action)}/passkey/options`, asked)), lies);
    const again = { as, json: { context_digest, passkey: signed } };
    const decided = await send('POST', `${approvalOf(action)}/approve`, again);
    expect(decided.json).toMatchObject({ status: 'approved' });
    const ended = await vi.waitFor(async () => {
      const { json } = await service.call('GET', `/v1/actions/${action}?wait=5`, { key: service.agentKey });
      expect(json['state']).toBe('sealed');
      return json;
    }, PATIENCE);
    expect(upstream.countFor(action)).toBe(1);
    const evidence = await send('GET', `/v1/deeds/${String(ended['deed'])}/evidence`, { as });
    const opened = evidence.json['data'] as { member: string; value?: { credential: string } }[];
    expect(opened.find(({ member }) => member === 'approval.decided_by.assertion')?.value).toMatchObject({
      credential: device.credential,
    });
    const check = await service.call('GET', '/v1/ledger/check', { key: service.adminKey });
    expect(check.json).toMatchObject({ result: 'intact' });
    await send('PATCH', '/v1/org', { as, json: { approvals: { signed: false } } });
  });
});

describe('what is asked and what is said', () => {
  it('a restart between question and answer loses neither', async () => {
    const action = await held('before a restart');
    await service.restart();
    const { json } = await send('GET', approvalOf(action), { as: people.owner });
    expect(json).toMatchObject({
      status: 'pending',
      approvable: true,
      context: { args: { text: 'before a restart' } },
    });
    const denied = await send('POST', `${approvalOf(action)}/deny`, {
      as: people.owner,
      json: { reason: 'canary-no' },
    });
    expect(denied.json).toMatchObject({ status: 'denied', reason: 'canary-no' });
    expect(upstream.countFor(action)).toBe(0);
  });

  it('kill -9 between the question and its mail: the mail goes out after the next start, once', async () => {
    const anna = 'anna@example.com';
    const mails = (): number => people.tokens(anna, 'approve').length;
    await people.member(anna, 'admin');
    await arm('apr.mail=kill@1');
    const exited = service.exited();
    const action = await held('asked of anna');
    expect(await exited).toMatchObject({ signal: 'SIGKILL' });
    expect(mails()).toBe(0);
    await service.start();
    await vi.waitFor(() => expect(mails()).toBe(1), PATIENCE);
    const [token] = people.tokens(anna, 'approve');
    const shown = await send('POST', '/v1/approvals/link/preview', { json: { token } });
    expect(shown.json).toMatchObject({ approval: { action, status: 'pending' } });
    // What is asked afterwards is mailed, so whoever would have mailed the first one again has had the time.
    await service.restart();
    await held('asked of anna afterwards');
    await vi.waitFor(() => expect(mails()).toBe(2), PATIENCE);
  });

  it('no argument, reason or digest of it is in the service’s own log', async () => {
    const output = service.output;
    for (const secret of ['before a restart', 'after the yes', 'asked of anna', 'canary-no', people.owner.csrf]) {
      expect(output).not.toContain(secret);
    }
  });
});
