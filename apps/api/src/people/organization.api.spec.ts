import { CreateOrganization } from '#libs/domain/agents/handlers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorMetadata } from '#libs/domain/kernel';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

let bench: PeopleBench;
let owner: Browser;
let admin: Browser;
let viewer: Browser;

beforeAll(async () => {
  bench = await PeopleBench.start();
  await bench.giveAddress(bench.owner, 'owner@example.com');
  owner = await bench.ownerBrowser();
  admin = await bench.member(owner, 'admin@example.com', 'admin');
  viewer = await bench.member(owner, 'viewer@example.com', 'viewer');
});
afterAll(() => bench?.close());

const idOf = async (browser: Browser): Promise<string> =>
  ((await browser.get('/v1/me')).json['membership'] as { id: string }).id;

describe('members', () => {
  it('are listed for everybody in the organization, and with an admin key', async () => {
    for (const browser of [owner, admin, viewer]) {
      const { json } = await browser.get('/v1/org/members');
      expect(json['data']).toMatchObject([
        { object: 'membership', email: 'owner@example.com', role: 'owner', status: 'active', invited_by: null },
        { email: 'admin@example.com', role: 'admin', invited_by: { type: 'user', id: bench.owner } },
        { email: 'viewer@example.com', role: 'viewer', invitation_expires_at: null },
      ]);
    }
    const byKey = await bench.browser().get('/v1/org/members?limit=2', bench.adminKey);
    expect(byKey.json).toMatchObject({ has_more: true, data: [{}, {}] });
    const next = `/v1/org/members?limit=2&cursor=${byKey.json['next_cursor'] as string}`;
    expect((await bench.browser().get(next, bench.adminKey)).json).toMatchObject({
      has_more: false,
      data: [{ role: 'viewer' }],
    });
    expect(await bench.browser().get('/v1/org/members', bench.agentKey)).toMatchObject({
      status: 403,
      error: { code: 'insufficient_scope' },
    });
  });

  it('are invited again with a fresh link, and the old one is void', async () => {
    const email = 'twice@example.com';
    expect((await admin.post('/v1/org/members', { email, role: 'viewer' })).status).toBe(201);
    const first = await bench.mail(email);
    const again = await admin.post('/v1/org/members', { email, role: 'viewer' });
    expect(again).toMatchObject({
      status: 200,
      json: { status: 'invited', deed: expect.stringMatching(/^deed_/) as string },
    });
    const second = await bench.mail(email);
    const browser = bench.browser('203.0.113.1');
    expect(await browser.use(first.token)).toMatchObject({ status: 400, error: { code: 'login_link_invalid' } });
    expect((await browser.post('/v1/auth/preview', { token: second.token })).json).toMatchObject({
      purpose: 'invite',
      email,
      org: { id: bench.org },
      role: 'viewer',
    });
    expect(await browser.use(second.token)).toMatchObject({ status: 200, json: { session: { via: 'invite' } } });
    expect(await admin.post('/v1/org/members', { email, role: 'viewer' })).toMatchObject({
      status: 409,
      error: { code: 'conflict', param: 'email' },
    });
  });

  it('are invited once under one key, whose replay says no address: it is stored nowhere in clear', async () => {
    const body = { email: 'once@example.com', role: 'viewer' };
    const first = await admin.post('/v1/org/members', body, { 'Idempotency-Key': 'invite-once' });
    const again = await admin.post('/v1/org/members', body, { 'Idempotency-Key': 'invite-once' });
    expect([first.json['email'], again.json['email']]).toEqual(['once@example.com', null]);
    expect(again).toMatchObject({ status: 201, json: { id: first.json['id'], deed: first.json['deed'] } });
  });

  it('are one person for one address, however it is written', async () => {
    const made = await owner.post('/v1/org/members', { email: 'Case@Example.com', role: 'viewer' });
    const again = await owner.post('/v1/org/members', { email: 'case@EXAMPLE.com', role: 'viewer' });
    expect(again).toMatchObject({ status: 200, json: { user: made.json['user'], email: 'case@example.com' } });
  });

  it('are managed by role', async () => {
    const refused = { status: 403, error: { code: 'insufficient_role', type: 'permission_error' } };
    expect(await viewer.post('/v1/org/members', { email: 'x@example.com', role: 'viewer' })).toMatchObject(refused);
    expect(await admin.post('/v1/org/members', { email: 'x@example.com', role: 'owner' })).toMatchObject({
      ...refused,
      error: { param: 'role' },
    });
    const own = await idOf(owner);
    expect(await admin.send('PATCH', `/v1/org/members/${own}`, { role: 'viewer' })).toMatchObject(refused);
    expect(await admin.send('DELETE', `/v1/org/members/${own}`)).toMatchObject(refused);
    expect(await viewer.send('DELETE', `/v1/org/members/${await idOf(admin)}`)).toMatchObject(refused);
    expect(await owner.send('DELETE', `/v1/org/members/${own}`)).toMatchObject({
      status: 409,
      error: { code: 'last_owner' },
    });
    expect(await owner.send('PATCH', `/v1/org/members/${own}`, { role: 'admin' })).toMatchObject({
      error: { code: 'last_owner' },
    });
    for (const wrong of ['u-1', {}, { 0: 'u-1' }, [1]]) {
      for (const param of ['references', 'chat_accounts']) {
        expect(await owner.send('PATCH', `/v1/org/members/${own}`, { [param]: wrong })).toMatchObject({
          status: 400,
          error: { code: 'validation_failed' },
        });
      }
    }
    expect(await owner.send('DELETE', '/v1/org/members/mem_00000000000000000000000009')).toMatchObject({ status: 404 });
  });

  it('have their role read live, and end with the answer that removed them', async () => {
    const other = await bench.member(owner, 'short@example.com', 'viewer');
    const id = await idOf(other);
    const promoted = await owner.send('PATCH', `/v1/org/members/${id}`, { role: 'admin', references: ['u-1'] });
    expect(promoted.json).toMatchObject({ role: 'admin', references: ['u-1'] });
    expect(promoted.json['deeds']).toHaveLength(2);
    expect((await other.post('/v1/org/members', { email: 'y@example.com', role: 'viewer' })).status).toBe(201);
    const removed = await owner.send('DELETE', `/v1/org/members/${id}`);
    expect(removed).toMatchObject({
      status: 200,
      json: { status: 'removed', deed: expect.stringMatching(/^deed_/) as string },
    });
    expect(await other.get('/v1/me')).toMatchObject({ status: 401, error: { code: 'session_expired' } });
    expect(await owner.send('DELETE', `/v1/org/members/${id}`)).toMatchObject({ status: 200, json: { deed: null } });
    // Who comes back is a member anew, and the old session stays dead.
    expect((await owner.post('/v1/org/members', { email: 'short@example.com', role: 'viewer' })).status).toBe(201);
    const back = bench.browser();
    expect((await back.use((await bench.mail('short@example.com')).token)).status).toBe(200);
    expect(await other.get('/v1/me')).toMatchObject({ error: { code: 'session_expired' } });
    expect((await back.send('DELETE', `/v1/org/members/${await idOf(back)}`)).json).toMatchObject({
      status: 'removed',
    });
  });
});

describe('the organization', () => {
  it('is read by everybody, and changed by role', async () => {
    expect((await viewer.get('/v1/org')).json).toMatchObject({
      object: 'organization',
      id: bench.org,
      status: 'active',
      pinned_version: '2026-10-01',
      retention_days: null,
      approvals: { mail: 'decide', chat: 'off', expires_in_s: 86_400 },
      in_flight: 0,
    });
    const changed = await admin.send('PATCH', '/v1/org', { name: 'Acme Europe', timezone: 'Asia/Kolkata' });
    expect(changed.json).toMatchObject({
      name: 'Acme Europe',
      timezone: 'Asia/Kolkata',
      deed: expect.any(String) as string,
    });
    expect((await admin.send('PATCH', '/v1/org', { name: 'Acme Europe' })).json).toMatchObject({ deed: null });
    expect(await admin.send('PATCH', '/v1/org', { retention_days: 30 })).toMatchObject({
      status: 403,
      error: { code: 'insufficient_role', param: 'retention_days' },
    });
    const owned = { retention_days: 30, approvals: { chat: 'decide' }, pinned_version: '2026-10-01' };
    expect((await owner.send('PATCH', '/v1/org', owned)).json).toMatchObject({
      retention_days: 30,
      approvals: { mail: 'decide', chat: 'decide', expires_in_s: 86_400 },
    });
    expect((await owner.send('PATCH', '/v1/org', { retention_days: null })).json).toMatchObject({
      retention_days: null,
    });
    for (const [body, param] of [
      [{ name: 'two\nlines' }, 'name'],
      [{ timezone: 'Mars/Base' }, 'timezone'],
      [{ pinned_version: '1999-01-01' }, 'pinned_version'],
      [{ retention_days: 0 }, 'retention_days'],
      [{ approvals: { mail: 'maybe' } }, 'approvals.mail'],
      [{ approvals: { expires_in_s: 59 } }, 'approvals.expires_in_s'],
      [{ plan: 'pro' }, 'plan'],
    ] as const) {
      expect(await owner.send('PATCH', '/v1/org', body), param).toMatchObject({
        status: 400,
        error: { code: 'validation_failed', param },
      });
    }
  });

  it('tells its admins who signed in and out', async () => {
    const other = await bench.member(owner, 'seen@example.com', 'viewer');
    const { id } = (await other.get('/v1/me')).json['session'] as { id: string };
    await other.post('/v1/auth/logout');
    const by = { type: 'user', id: expect.any(String) as string };
    const { json } = await admin.get('/v1/security-events?limit=2&type=user.signed_in,user.signed_out');
    expect(json['data']).toMatchObject([
      { object: 'security_event', type: 'user.signed_out', by, session: id, via: null, why: 'signed_out' },
      { object: 'security_event', type: 'user.signed_in', by, session: id, via: 'invite', why: null },
    ]);
    expect(await viewer.get('/v1/security-events')).toMatchObject({ error: { code: 'insufficient_role' } });
  });

  it('is stopped by an admin and started by an owner', async () => {
    const stopped = await admin.post('/v1/org/stop', { reason: 'Investigating' });
    expect(stopped.json).toMatchObject({
      status: 'stopped',
      stopped_at: expect.any(String) as string,
      stopped_by: { type: 'user' },
    });
    const refused = await bench.browser().post('/v1/actions', { tool: 'crm.x', args: {} }, bench.agentKey);
    expect(refused).toMatchObject({ status: 403, error: { code: 'org_stopped' } });
    expect(await admin.post('/v1/org/start')).toMatchObject({ error: { code: 'insufficient_role' } });
    expect(await bench.browser().post('/v1/org/start', {}, bench.adminKey)).toMatchObject({
      error: { code: 'insufficient_role' },
    });
    expect((await owner.post('/v1/org/start')).json).toMatchObject({
      status: 'active',
      stopped_at: null,
      stopped_by: null,
    });
  });

  it('has admin keys that people make and no key does', async () => {
    const made = await admin.post('/v1/org/keys', {}, { 'Idempotency-Key': 'make-1' });
    expect(made).toMatchObject({ status: 201, json: { object: 'api_key', scopes: ['admin'], livemode: true } });
    const { secret, id } = made.json as { secret: string; id: string };
    const again = await admin.post('/v1/org/keys', {}, { 'Idempotency-Key': 'make-1' });
    expect(again.json).toMatchObject({ id, secret: null });
    const key = { Authorization: `Bearer ${secret}` };
    expect((await bench.browser().get('/v1/org/keys', key)).json['data']).toHaveLength(2);
    const forbidden = { status: 403, error: { code: 'insufficient_scope' } };
    expect(await bench.browser().post('/v1/org/keys', {}, key)).toMatchObject(forbidden);
    expect(await bench.browser().post(`/v1/org/keys/${id}/roll`, {}, key)).toMatchObject(forbidden);
    expect(await viewer.get('/v1/org/keys')).toMatchObject({ error: { code: 'insufficient_role' } });
    const rolled = await owner.post(`/v1/org/keys/${id}/roll`, { overlap_seconds: 0 });
    expect(rolled).toMatchObject({ status: 201, json: { expires_at: null } });
    expect(await bench.browser().get('/v1/org', key)).toMatchObject({ error: { code: 'api_key_expired' } });
    const successor = { Authorization: `Bearer ${rolled.json['secret'] as string}` };
    expect((await owner.send('DELETE', `/v1/org/keys/${rolled.json['id'] as string}`)).json).toMatchObject({
      revoked_at: expect.any(String) as string,
    });
    expect(await bench.browser().get('/v1/org', successor)).toMatchObject({ error: { code: 'api_key_revoked' } });
  });

  it('tells its admins which keys were issued, rolled and revoked, and by whom, each type by itself', async () => {
    const by = { type: 'user', id: bench.owner };
    const made = (await owner.post('/v1/org/keys')).json as { id: string; prefix: string };
    const rolled = (await owner.post(`/v1/org/keys/${made.id}/roll`, { overlap_seconds: 60 })).json as typeof made;
    await owner.send('DELETE', `/v1/org/keys/${rolled.id}`);
    const listed = async (types: string) => (await admin.get(`/v1/security-events?limit=3&type=${types}`)).json['data'];
    expect(await listed('admin_key.created,admin_key.rolled,admin_key.revoked')).toMatchObject([
      { type: 'admin_key.revoked', by, user: null, key: { id: rolled.id, prefix: null, successor: null } },
      { type: 'admin_key.rolled', by, key: { id: made.id, prefix: `svc_live_${rolled.prefix}`, successor: rolled.id } },
      { type: 'admin_key.created', by, key: { id: made.id, prefix: `svc_live_${made.prefix}`, agent: null } },
    ]);
    expect(await listed('admin_key.rolled')).toMatchObject([{ key: { id: made.id } }, { type: 'admin_key.rolled' }]);
    expect(await listed('member.address_set')).toMatchObject([{ by: { type: 'operator' }, user: bench.owner }]);
    expect(await admin.get('/v1/security-events?type=keys')).toMatchObject({
      status: 400,
      error: { code: 'validation_failed', param: 'type' },
    });
  });
});

describe('a person in several organizations', () => {
  it('switches between them, with new secrets each time', async () => {
    const { deployment } = bench;
    const made = await deployment.commands.execute(
      new CreateOrganization('Second', operatorMetadata(deployment, null)),
    );
    const { org } = made.organization;
    const metadata = operatorMetadata(deployment, org);
    const second = bench.browser();
    await second.use(await deployment.persons().issueLink(org, made.organization.owner, metadata));
    expect((await second.post('/v1/org/members', { email: 'admin@example.com', role: 'viewer' })).status).toBe(201);
    expect((await bench.browser().use((await bench.mail('admin@example.com')).token)).status).toBe(200);
    const before = admin.jar;
    expect(await viewer.post('/v1/auth/switch-org', { org })).toMatchObject({ status: 404, error: { param: 'org' } });
    const switched = await admin.post('/v1/auth/switch-org', { org });
    admin.csrf = admin.cookie('csrf') ?? null;
    expect(switched.json).toMatchObject({ session: { org, via: 'org_switch' }, membership: { role: 'viewer' } });
    expect(switched.json['organizations']).toHaveLength(2);
    expect(await bench.browser().get('/v1/me', { Cookie: before })).toMatchObject({
      error: { code: 'session_expired' },
    });
    expect(await admin.get('/v1/org', { 'Service-Org': bench.org })).toMatchObject({
      status: 409,
      error: { code: 'conflict', param: 'Service-Org' },
    });
    expect(await admin.send('PATCH', '/v1/org', { name: 'Mine' })).toMatchObject({
      error: { code: 'insufficient_role' },
    });
    // Other organizations' members are not there.
    expect(await second.send('DELETE', `/v1/org/members/${await idOf(viewer)}`)).toMatchObject({ status: 404 });
  });
});
