import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectCrm } from '../support/crm.js';
import { runAgsHere, type AgsRun } from '../support/run-ags.js';
import { startService, type Answer, type RunningService } from '../support/service.js';
import { startUpstream } from '../support/upstream.js';

let service: RunningService;

beforeAll(async () => {
  service = await startService({ env: { LOG_LEVEL: 'warn' } });
});

afterAll(() => service?.stop());

/** Beside the running service, on its state directory. */
const ags = (...args: string[]): Promise<AgsRun> => runAgsHere([...args, '--json'], { env: service.environment });

const act = (key: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  service.call('POST', '/v1/actions', { key, body: { tool: 'mail.send', args: {} }, headers });

/** Refused by nothing but the missing connector: the key works and nobody is stopped. */
const WORKS = { status: 404, error: { code: 'tool_unknown' } };

describe('ags keys', () => {
  it('makes, rolls and revokes an agent’s key, each from the next call on', async () => {
    const made = await ags('keys', 'create', '--agent', service.agent, '--scopes', 'actions:execute', '--live');
    expect(made).toMatchObject({
      code: 0,
      stderr: '',
      object: {
        object: 'api_key',
        org: service.org,
        agent: service.agent,
        livemode: true,
        scopes: ['actions:execute'],
        status: 'active',
        secret: expect.stringMatching(/^svc_live_/),
        deed: expect.stringMatching(/^deed_/),
      },
    });
    const [id, secret] = [String(made.object['id']), String(made.object['secret'])];
    expect(await act(secret)).toMatchObject(WORKS);

    const rolled = await ags('keys', 'roll', id, '--overlap', '1h');
    expect(rolled).toMatchObject({
      code: 0,
      object: { scopes: ['actions:execute'], livemode: true, expires_at: null },
    });
    const successor = { id: String(rolled.object['id']), secret: String(rolled.object['secret']) };
    expect(await act(secret)).toMatchObject(WORKS);
    expect(await act(successor.secret)).toMatchObject(WORKS);
    expect(await ags('keys', 'roll', id)).toMatchObject({ code: 1, error: { code: 'conflict' } });

    expect(await ags('keys', 'revoke', successor.id)).toMatchObject({ code: 0, object: { status: 'revoked' } });
    expect(await act(successor.secret)).toMatchObject({ status: 401, error: { code: 'api_key_revoked' } });
    expect(await act(secret)).toMatchObject(WORKS);
    expect(await ags('keys', 'revoke', successor.id)).toMatchObject({ code: 0, object: { deed: null } });
  });

  it('ends a call that waits for its action, which goes on (rule KEY-4)', async () => {
    let release: (() => void) | undefined;
    const upstream = await startUpstream((_seen, response) => {
      release = () => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret":"result"}');
    });
    await connectCrm(service, upstream.baseUrl, { timeoutMs: 60_000 });
    const made = await ags('keys', 'create', '--agent', service.agent);
    const body = { tool: 'crm.add_note', args: { id: '42', text: 'x' }, wait: 25 };
    const waiting = service.call('POST', '/v1/actions', { key: String(made.object['secret']), body });
    await vi.waitUntil(() => release !== undefined, { timeout: 20_000 });
    await ags('keys', 'revoke', String(made.object['id']));
    expect(await waiting).toMatchObject({ status: 401, error: { code: 'api_key_revoked' } });
    release?.();
    const listed = () => service.call('GET', '/v1/actions?tool=crm.add_note', { key: service.adminKey });
    await vi.waitFor(async () => expect((await listed()).json['data']).toMatchObject([{ state: 'sealed' }]), {
      timeout: 20_000,
    });
    await upstream.close();
  });

  it('rolled without an overlap answers api_key_expired at once', async () => {
    const made = await ags('keys', 'create', '--agent', service.agent);
    await ags('keys', 'roll', String(made.object['id']), '--overlap', '0');
    expect(await act(String(made.object['secret']))).toMatchObject({ status: 401, error: { code: 'api_key_expired' } });
  });

  it('makes and revokes admin keys', async () => {
    const made = await ags('keys', 'create', '--admin');
    expect(made).toMatchObject({ code: 0, object: { agent: null, scopes: ['admin'], livemode: true } });
    const key = String(made.object['secret']);
    expect(await service.call('GET', '/v1/policies', { key })).toMatchObject({ status: 200 });
    expect(await ags('keys', 'revoke', String(made.object['id']))).toMatchObject({ code: 0 });
    expect(await service.call('GET', '/v1/policies', { key })).toMatchObject({
      status: 401,
      error: { code: 'api_key_revoked' },
    });
  });

  it('names a key by its id or by how it begins, and never by its secret', async () => {
    const secrets = [];
    for (let made = 0; made < 2; made += 1)
      secrets.push(String((await ags('keys', 'create', '--admin')).object['secret']));
    for (const [index, begins] of ['whole', 'bare'].entries()) {
      const secret = String(secrets[index]);
      const [, mode, prefix] = secret.split('_');
      expect(await ags('keys', 'revoke', secret)).toMatchObject({ code: 2, error: { code: 'usage' } });
      const named = begins === 'whole' ? `svc_${mode}_${prefix}` : String(prefix);
      expect(await ags('keys', 'revoke', named)).toMatchObject({ code: 0, object: { status: 'revoked' } });
      expect(await service.call('GET', '/v1/org', { key: secret })).toMatchObject({ status: 401 });
    }
    expect(await ags('keys', 'revoke', '00000000')).toMatchObject({ code: 1, error: { code: 'not_found' } });
  });

  it('says who made an admin key, when it was used and when it ends', async () => {
    const made = await ags('keys', 'create', '--admin', '--expires-in', '90d');
    const { id, secret, created_at: createdAt, expires_at: end } = made.object;
    expect(made.object).toMatchObject({ created_by: { type: 'operator', id: null }, last_used_at: null });
    expect(Date.parse(String(end)) - Date.parse(String(createdAt))).toBe(90 * 24 * 60 * 60 * 1000);
    await service.call('GET', '/v1/org/keys', { key: String(secret) });
    const listed = (await ags('keys', 'list', '--admin')).objects.find((key) => key['id'] === id);
    expect(Date.parse(String(listed?.['last_used_at']))).toBeGreaterThan(0);
    await ags('keys', 'revoke', String(id));
  });

  it('knows a request again that is repeated with the successor of the admin key (rule KEY-5)', async () => {
    const made = await ags('keys', 'create', '--admin');
    const rolled = await ags('keys', 'roll', String(made.object['id']));
    const rules = ['  - id: crm', '    match:', '      tools:', '        - crm.*', '    decision: allow'];
    const source = ['version: 1', 'default: deny', 'rules:', ...rules, ''].join('\n');
    const body = { name: 'Repeated', source };
    const create = (key: unknown) =>
      service.call('POST', '/v1/policies', { key: String(key), body, headers: { 'Idempotency-Key': 'repeated' } });
    const first = await create(made.object['secret']);
    expect(first.error).toEqual({});
    expect(await create(rolled.object['secret'])).toMatchObject({ status: 201, json: { id: first.json['id'] } });
  });

  it('lists keys without secrets, of everybody or of one agent', async () => {
    const all = await ags('keys', 'list');
    expect(all.objects.filter(({ agent }) => agent === null).length).toBeGreaterThanOrEqual(2);
    for (const secret of [service.adminKey, service.agentKey]) {
      const prefix = secret.split('_').slice(0, 3).join('_');
      expect(all.objects.map((key) => key['prefix'])).toContain(prefix);
      expect(all.stdout).not.toContain(secret);
    }
    const ofAgent = await ags('keys', 'list', '--agent', service.agent);
    expect(new Set(ofAgent.objects.map(({ agent }) => agent))).toEqual(new Set([service.agent]));
    expect(ofAgent.objects.map(({ status }) => status)).toEqual(
      expect.arrayContaining(['active', 'revoked', 'expired']),
    );
  });

  it('of nobody known ends with 1 and says where to look', async () => {
    const unknown = 'key_0000000000000000000000000a';
    const run = await ags('keys', 'revoke', unknown);
    expect(run).toMatchObject({ code: 1, stdout: '', error: { object: 'error', code: 'not_found' } });
    expect(run.error['message']).toContain('npm run ags -- keys list');
  });
});

describe('ags agents', () => {
  it('creates an agent that may act at once, and lists it', async () => {
    const made = await ags('agents', 'create', 'support-bot', '--label', 'team=support', '--label', 'tier=1');
    expect(made).toMatchObject({
      code: 0,
      object: { name: 'support-bot', status: 'active', labels: { team: 'support', tier: '1' }, active_keys: 1 },
    });
    expect(await act(String(made.object['agent_key']))).toMatchObject(WORKS);
    const listed = await ags('agents', 'list');
    expect(listed.objects.map(({ id }) => id)).toEqual([service.agent, made.object['id']]);
  });

  it('changes what is named and nothing else, each sealed by itself', async () => {
    const { object: made } = await ags('agents', 'create', 'changeling', '--label', 'team=support');
    const set = (...args: string[]) => ags('agents', 'set', String(made['id']), ...args);
    const changed = await set('--label', 'tier=1', '--calls-per-day', '10', '--intent-mode', 'optional');
    const budgets = { calls_per_day: 10, spend_per_day: null };
    expect(changed).toMatchObject({ code: 0, object: { labels: { tier: '1' }, budgets, intent_mode: 'optional' } });
    expect(changed.object['deeds']).toHaveLength(3);
    expect(await set('--calls-per-day', '10')).toMatchObject({ code: 0, object: { deed: null, deeds: [] } });
    const again = await set('--no-labels', '--calls-per-day', 'none', '--spend-per-day', '5000eur');
    const spend = { calls_per_day: null, spend_per_day: { amount: 5_000, currency: 'eur' } };
    expect(again).toMatchObject({ code: 0, object: { labels: {}, budgets: spend, intent_mode: 'optional' } });
  });

  it('takes a name that another agent has: the ids tell them apart', async () => {
    const twins = [await ags('agents', 'create', 'twin'), await ags('agents', 'create', 'twin')];
    expect(twins).toMatchObject([
      { code: 0, object: { name: 'twin' } },
      { code: 0, object: { name: 'twin' } },
    ]);
    expect(new Set(twins.map(({ object }) => object['id'])).size).toBe(2);
    const run = await ags('agents', 'stop', 'twin');
    expect(run).toMatchObject({ code: 2, error: { code: 'usage' } });
    for (const { object } of twins) expect(run.error['message']).toContain(object['id']);
  });

  it('are named by their names where no other has the same', async () => {
    const { object } = await ags('agents', 'create', 'only one');
    expect(await ags('agents', 'stop', 'only one')).toMatchObject({
      code: 0,
      object: { id: object['id'], status: 'stopped' },
    });
    expect(await ags('agents', 'resume', 'only one')).toMatchObject({ code: 0, object: { status: 'active' } });
    expect((await ags('keys', 'list', '--agent', 'only one')).objects).toMatchObject([{ agent: object['id'] }]);
    expect(await ags('agents', 'stop', 'nobody')).toMatchObject({ code: 1, error: { code: 'not_found' } });
  });

  it('are named by their names in a signed intent, too', async () => {
    const { object } = await ags('agents', 'create', 'signer');
    const folder = await mkdtemp(join(tmpdir(), 'ags-signer-'));
    const [key, args] = [join(folder, 'intent.pem'), join(folder, 'args.json')];
    await writeFile(args, '{}');
    await ags('intent', 'keygen', key);
    const sign = (agent: string) =>
      ags('intent', 'sign', '--key', key, '--org', service.org, '--agent', agent, '--tool', 'crm.get', '--args', args);
    const signed = await sign('signer');
    const claims = Buffer.from(String(signed.object['value']).split('.')[0] ?? '', 'base64url').toString();
    expect([signed.code, JSON.parse(claims)]).toMatchObject([0, { agent: object['id'], org: service.org }]);
    expect(await sign('nobody')).toMatchObject({ code: 1, error: { code: 'not_found' } });
    await rm(folder, { recursive: true });
  });

  it.each([
    ['stop', 'stopped', 'agent_stopped'],
    ['suspend', 'suspended', 'agent_suspended'],
  ])('%s holds from the next call on, is recorded and sealed, until resume', async (verb, status, code) => {
    expect(await ags('agents', verb, service.agent, '--reason', 'Wrong refunds')).toMatchObject({
      code: 0,
      object: { object: 'agent', status, deed: expect.stringMatching(/^deed_/) },
    });
    const headers = { 'Idempotency-Key': `while-${status}` };
    const attempt = () => act(service.agentKey, headers);
    const refused = await attempt();
    expect(refused).toMatchObject({
      status: 403,
      error: { type: 'permission_error', code, action: { state: 'sealed', status: 'denied' } },
    });
    expect((refused.error['action'] as Record<string, unknown>)['deed']).toMatch(/^deed_/);
    expect(await ags('agents', verb, service.agent)).toMatchObject({ code: 0, object: { status, deed: null } });
    expect(await ags('agents', 'resume', service.agent)).toMatchObject({ code: 0, object: { status: 'active' } });
    expect(await act(service.agentKey)).toMatchObject(WORKS);
    const again = await attempt();
    expect(again.error).toMatchObject({
      code,
      action: { id: (refused.error['action'] as Record<string, unknown>)['id'] },
      message: `This agent was ${status} when the call was made, and that refusal is the answer to its Idempotency-Key. Once it is resumed, send the call with a new Idempotency-Key.`,
    });
  });

  it.each([
    ['an unknown agent', ['agents', 'stop', 'agt_0000000000000000000000000a'], 1, 'not_found'],
    ['a reason of two lines', ['agents', 'stop', 'AGENT', '--reason', 'a\nb'], 2, 'validation_failed'],
    ['a name that is empty', ['agents', 'create', ''], 2, 'validation_failed'],
    ['a label of another form', ['agents', 'create', 'x', '--label', 'Team=x'], 2, 'validation_failed'],
    ['a budget of nothing', ['agents', 'set', 'AGENT', '--calls-per-day', '0'], 2, 'validation_failed'],
    ['a mode that would lock it out', ['agents', 'set', 'AGENT', '--intent-mode', 'required'], 1, 'conflict'],
    ['labels and none', ['agents', 'set', 'AGENT', '--label', 'a=b', '--no-labels'], 2, 'usage'],
    ['an amount without a currency', ['agents', 'set', 'AGENT', '--spend-per-day', '50'], 2, 'usage'],
  ])('refuses %s', async (_title, args, code, error) => {
    const run = await ags(...args.map((arg) => (arg === 'AGENT' ? service.agent : arg)));
    expect(run).toMatchObject({ code, stdout: '', error: { code: error } });
    expect(await act(service.agentKey)).toMatchObject(WORKS);
  });
});

describe('ags org', () => {
  it('stops all agents from the next call on, and starts them again', async () => {
    const stopped = await ags('org', 'stop', '--reason', 'Investigating');
    expect(stopped).toMatchObject({ code: 0, object: { id: service.org, status: 'stopped' } });
    expect(await act(service.agentKey)).toMatchObject({
      status: 403,
      error: { code: 'org_stopped', action: { state: 'sealed' } },
    });
    expect(await ags('org', 'show')).toMatchObject({ code: 0, object: { status: 'stopped' } });
    expect(await ags('org', 'start')).toMatchObject({ code: 0, object: { status: 'active' } });
    expect(await act(service.agentKey)).toMatchObject(WORKS);
  });

  it('when there are several must be named', async () => {
    const made = await ags('org', 'create', 'Support Europe');
    expect(made).toMatchObject({
      code: 0,
      object: { name: 'Support Europe', policy_version: 1, active_admin_keys: 1 },
    });
    const other = String(made.object['id']);
    expect(await service.call('GET', '/v1/policies', { key: String(made.object['admin_key']) })).toMatchObject({
      status: 200,
      json: { data: [{ id: made.object['policy'], name: 'Default deny', activation: 'enforce' }] },
    });
    const again = await ags('org', 'create', 'Support Europe', '--org', other);
    expect(again).toMatchObject({ code: 0, object: { id: other, policy: made.object['policy'], admin_key: null } });
    const unnamed = await ags('org', 'stop');
    expect(unnamed).toMatchObject({ code: 2, error: { code: 'usage' } });
    expect(unnamed.error['message']).toContain(other);
    expect(await ags('org', 'stop', '--org', other)).toMatchObject({ code: 0, object: { status: 'stopped' } });
    // Only that one is stopped.
    expect(await act(service.agentKey)).toMatchObject(WORKS);
    const listed = await ags('org', 'list');
    expect(listed.objects.map(({ id, status }) => [id, status]).sort()).toEqual(
      [
        [service.org, 'active'],
        [other, 'stopped'],
      ].sort(),
    );
  });
});

describe('ags seal-keys', () => {
  const published = async (): Promise<Record<string, unknown>[]> =>
    (await ags('seal-keys', 'list')).objects.map((key) => ({ ...key }));

  it('does not rotate with an overlap that is too short or too long, and makes no key', async () => {
    const before = await published();
    const rotate = (overlap: string): Promise<AgsRun> => ags('seal-keys', 'rotate', '--overlap', overlap);
    for (const refused of await Promise.all(['0', '5s', '59s', '366d'].map(rotate))) {
      expect(refused).toMatchObject({ code: 2, stdout: '', error: { code: 'validation_failed' } });
      expect(refused.error['message']).toContain('one minute to 365 days');
    }
    expect(await published()).toEqual(before);
  });

  it('rotates: a live sealer proves the new key, seals with it at once, and the old one retires', async () => {
    const [old] = await published();
    const rotated = await ags('seal-keys', 'rotate', '--overlap', '1h');
    expect(rotated).toMatchObject({
      code: 0,
      stderr: '',
      object: {
        object: 'seal_key',
        status: 'active',
        retired_at: null,
        retiring: [{ kid: old?.['kid'], fingerprint: service.pin, status: 'retiring', revoked_at: null }],
      },
    });
    const [retiring] = rotated.object['retiring'] as { retired_at: string }[];
    const overlapMs = Date.parse(retiring?.retired_at ?? '') - Date.parse(String(rotated.object['activated_at']));
    expect(overlapMs).toBe(3_600_000);
    expect(await published()).toMatchObject([
      { kid: old?.['kid'], status: 'retiring', fingerprint: service.pin },
      { kid: rotated.object['kid'], status: 'active' },
    ]);
    const { error } = await act(service.agentKey);
    const deed = await service.call(
      'GET',
      `/v1/deeds/${String((error['action'] as Record<string, unknown>)['deed'])}`,
      {
        key: service.agentKey,
      },
    );
    expect(deed.status).toBe(200);
    expect((deed.json['chain'] as Record<string, unknown>)['kid']).toBe(rotated.object['kid']);
  });

  const exported = async (): Promise<string> => (await ags('events', 'export')).stdout;

  it('revokes a key, and warns when none is left to seal with', async () => {
    const [old, current] = await published();
    const revoked = await ags('seal-keys', 'revoke', String(old?.['kid']), '--reason', 'Backup lost');
    expect(revoked).toMatchObject({ code: 0, stderr: '', object: { status: 'revoked' } });
    // Sealed after the deed of the revocation, which is in the log by then.
    await act(service.agentKey);
    const [log, again] = [await exported(), await ags('seal-keys', 'revoke', String(old?.['kid']))];
    // Once is enough: the same answer, and nothing appended, so no second deed either.
    expect([again.code, again.object, await exported()]).toEqual([0, revoked.object, log]);
    const last = await ags('seal-keys', 'revoke', String(current?.['kid']));
    expect(last.code).toBe(0);
    expect(last.stderr).toContain('npm run ags -- seal-keys rotate');
    const health = await service.call('GET', '/v1/health');
    expect(health).toMatchObject({ status: 200, json: { status: 'degraded', checks: { sealing: 'degraded' } } });
    // Sealing goes on with the next key; what waited is sealed then.
    expect(await ags('seal-keys', 'rotate')).toMatchObject({ code: 0, object: { status: 'active' } });
    expect(await act(service.agentKey)).toMatchObject({ ...WORKS, error: { action: { state: 'sealed' } } });
  });

  it('does not know every kid', async () => {
    const run = await ags('seal-keys', 'revoke', '0'.repeat(32));
    expect(run).toMatchObject({ code: 1, error: { code: 'not_found' } });
  });
});

describe('ags without a running service', () => {
  it('changes the same log, and the next start knows of it', async () => {
    await service.kill('SIGTERM');
    expect(await ags('agents', 'stop', service.agent)).toMatchObject({ code: 0, object: { status: 'stopped' } });
    await service.start();
    expect(await act(service.agentKey)).toMatchObject({ status: 403, error: { code: 'agent_stopped' } });
  });
});
