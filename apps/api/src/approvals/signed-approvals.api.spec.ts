import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { approvalChallenge, canonicalize, commitmentOf, encodeBase64url, faultOfAssertion } from '#libs/crypto';
import type { JsonObject, JsonValue } from '#libs/crypto';
import type { UserId } from '#libs/domain/kernel';
import { challengeOf, passkeyAt } from '../../../../test/support/passkey-scene.js';
import { type Browser, type BrowserAnswer, PeopleBench } from '../../../../test/support/people-bench.js';
import { type Lies, SoftAuthenticator } from '../../../../test/support/soft-authenticator.js';
import { startUpstream, type Upstream } from '../../../../test/support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: signed
    match:
      tools:
        - pay.refund
    decision: require_approval
    approval:
      signed: true
  - id: plain
    match:
      tools:
        - pay.note
    decision: require_approval
`;
const TOOLS = ['refund', 'note'].map((name) => ({ name, method: 'POST', path: `/v1/${name}`, args: {} }));
const SITE = { rpId: 'ags.example.com', origin: 'https://ags.example.com' };

let upstream: Upstream;
let bench: PeopleBench;
let [owner, admin] = [] as unknown as [Browser, Browser];
let adminId: UserId;
let agent: Record<string, string>;
const device = new SoftAuthenticator(SITE);
const counting = new SoftAuthenticator(SITE, -8);

beforeAll(async () => {
  upstream = await startUpstream();
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  owner = await bench.ownerBrowser();
  admin = await bench.member(owner, 'admin@example.com', 'admin');
  adminId = ((await admin.get('/v1/me')).json['user'] as { id: UserId }).id;
  const config = {
    allowed_methods: ['POST'],
    allowed_path_prefixes: ['/v1'],
    tools: TOOLS,
    base_url: upstream.baseUrl,
  };
  expect((await admin.post('/v1/connectors', { type: 'rest', name: 'pay', config })).status).toBe(201);
  const policy = await admin.post('/v1/policies', { name: 'Refunds', source: POLICY });
  const activate = `/v1/policies/${policy.json['id'] as string}/versions/1/activate`;
  expect((await admin.post(activate, { mode: 'enforce' })).status).toBe(200);
  agent = await newAgent('support');
  expect((await passkeyAt(admin, device, { name: 'Phone' })).status).toBe(201);
  expect((await passkeyAt(admin, counting, { name: 'Key' })).status).toBe(201);
});
afterAll(async () => {
  await bench?.close();
  await upstream?.close();
});

const newAgent = async (name: string): Promise<Record<string, string>> => {
  const { json } = await admin.post('/v1/agents', { name, key: {} });
  return { Authorization: `Bearer ${String(json['secret'])}` };
};

interface Held {
  readonly action: string;
  readonly approval: string;
}

const held = async (tool = 'pay.refund'): Promise<Held> => {
  const { status, json } = await bench.browser().post('/v1/actions', { tool, args: {}, wait: 0 }, agent);
  expect(status).toBe(202);
  const action = json['id'] as string;
  return { action, approval: action.replace('act_', 'apr_') };
};
const read = async (browser: Browser, { approval }: Held) => (await browser.get(`/v1/approvals/${approval}`)).json;
const asked = async (browser: Browser, one: Held, decision = 'approve'): Promise<BrowserAnswer> => {
  const { context_digest } = await read(browser, one);
  return browser.post(`/v1/approvals/${one.approval}/passkey/options`, {
    decision,
    context_digest: context_digest ?? '',
  });
};
const decide = async (browser: Browser, one: Held, decision: string, more: object = {}): Promise<BrowserAnswer> => {
  const { context_digest } = await read(browser, one);
  return browser.post(`/v1/approvals/${one.approval}/${decision}`, { context_digest, ...more });
};
const signed = async (one: Held, decision = 'approve', by = device, lies: Lies = {}) =>
  by.sign(challengeOf(await asked(admin, one, decision)), lies);

interface Opening {
  readonly member: string;
  readonly commitment: string;
  readonly salt: string;
  readonly value: JsonValue;
}

const evidenceOf = async (deed: string): Promise<readonly Opening[]> =>
  (await owner.get(`/v1/deeds/${deed}/evidence`)).json['data'] as readonly Opening[];

const deedOf = async (one: Held): Promise<string> =>
  vi.waitFor(
    async () => {
      const { deed } = await read(admin, one);
      expect(deed).toEqual(expect.any(String));
      return deed as string;
    },
    { timeout: 20_000, interval: 50 },
  );

interface ListedDeed {
  readonly id: string;
  readonly about: { readonly admin?: string };
}

/** What the deeds say of the passkeys that were registered: the newest first. */
const registrations = async (): Promise<readonly JsonObject[]> => {
  const deeds = await vi.waitFor(
    async () => {
      const { json } = await owner.get('/v1/deeds?kind=admin&limit=100');
      const found = (json['data'] as ListedDeed[]).filter(({ about }) => about.admin === 'passkey.registered');
      expect(found).toHaveLength(2);
      return found;
    },
    { timeout: 20_000, interval: 100 },
  );
  return Promise.all(deeds.map(async ({ id }) => (await evidenceOf(id))[0]?.value as JsonObject));
};

describe('an approval that a rule wants signed', () => {
  it('says so, and whether the person could', async () => {
    const one = await held();
    expect(await read(admin, one)).toMatchObject({ signed: true, you: { eligible: true, has_passkey: true } });
    expect(await read(owner, one)).toMatchObject({ signed: true, you: { eligible: true, has_passkey: false } });
    expect(await read(admin, await held('pay.note'))).toMatchObject({ signed: false });
    const { json } = await admin.get(`/v1/approvals?action=${one.action}`);
    expect(json['data']).toMatchObject([{ signed: true }]);
  });

  it('is approved by a passkey, and whoever has the evidence checks it without the service', async () => {
    const one = await held();
    const { context_digest } = await read(admin, one);
    const passkey = await signed(one);
    expect(await decide(admin, one, 'approve', { passkey })).toMatchObject({
      status: 200,
      json: { status: 'approved' },
    });
    const evidence = await evidenceOf(await deedOf(one));
    const members = ['approval.countersigned.0.assertion', 'approval.decided_by.assertion'];
    const [assertion, same] = members.map((member) => evidence.find((opening) => opening.member === member));
    expect(assertion?.value).toEqual(same?.value);
    expect(commitmentOf(assertion?.salt ?? '', canonicalize(assertion?.value ?? null))).toBe(assertion?.commitment);
    const registration = (await registrations()).find((each) => each['credential'] === device.credential);
    expect(registration).toMatchObject({ user: adminId, rp_id: 'ags.example.com' });
    const about = {
      ...{ org: bench.org, approval: one.approval, action: one.action, user: adminId },
      ...{ context_digest: context_digest as string, decision: 'approve' as const },
    };
    const challenge = encodeBase64url(approvalChallenge(about));
    const expected = { challenge, rp_id: SITE.rpId, origin: SITE.origin };
    expect(faultOfAssertion(assertion?.value, registration, expected)).toBe(null);
    const context = evidence.find(({ member }) => member === 'approval.countersigned.0.context')?.value;
    expect(context).toMatchObject({ signed: true });
  });

  it('is refused without one, and nothing has changed', async () => {
    const one = await held();
    expect(await decide(admin, one, 'approve')).toMatchObject({
      status: 403,
      error: { code: 'approval_needs_passkey', type: 'permission_error' },
    });
    const without = await decide(owner, one, 'approve');
    expect(without).toMatchObject({ status: 403, error: { code: 'approval_needs_passkey' } });
    expect(without.error?.['message']).toContain('you have none here');
    expect(await asked(owner, one)).toMatchObject({ status: 403, error: { code: 'approval_needs_passkey' } });
    expect(await read(admin, one)).toMatchObject({ status: 'pending', countersigned: 0 });
  });

  it('is for no key', async () => {
    const one = await held();
    const path = `/v1/approvals/${one.approval}`;
    const { context_digest } = await read(admin, one);
    const passkey = await signed(one);
    for (const route of ['approve', 'passkey/options']) {
      const body = route === 'approve' ? { context_digest, passkey } : { context_digest, decision: 'approve' };
      expect(await bench.browser().post(`${path}/${route}`, body, bench.adminKey), route).toMatchObject({
        status: 403,
        error: { code: 'approval_needs_person' },
      });
    }
  });

  it('takes no signature of another person, nor without its person verified', async () => {
    const one = await held();
    const own = new SoftAuthenticator(SITE);
    const other = await bench.member(owner, 'other@example.com', 'admin');
    expect((await passkeyAt(other, own, { name: 'Theirs' })).status).toBe(201);
    const invalid = { status: 400, error: { code: 'passkey_invalid' } };
    expect(await decide(other, one, 'approve', { passkey: await signed(one) })).toMatchObject(invalid);
    const foreign = await signed(one, 'approve', own);
    expect(await decide(admin, one, 'approve', { passkey: foreign })).toMatchObject(invalid);
    const unverified = await signed(one, 'approve', device, { flags: 0x01 });
    expect(await decide(admin, one, 'approve', { passkey: unverified })).toMatchObject(invalid);
    const handled = { ...(await signed(one)), user_handle: Buffer.from('mem_other').toString('base64url') };
    expect(await decide(admin, one, 'approve', { passkey: handled })).toMatchObject(invalid);
    expect(await decide(admin, one, 'approve', { passkey: { id: 'x' } })).toMatchObject({
      status: 400,
      error: { code: 'validation_failed' },
    });
    expect(await read(admin, one)).toMatchObject({ status: 'pending' });
    // The person's own way back in is the mail, not another approval: nothing was used up.
    expect(await decide(admin, one, 'approve', { passkey: await signed(one) })).toMatchObject({ status: 200 });
  });

  it('is denied without one, and keeps what was signed where something was', async () => {
    const [one, other] = [await held(), await held()];
    expect(await decide(owner, one, 'deny')).toMatchObject({ status: 200, json: { status: 'denied' } });
    const passkey = await signed(other, 'deny');
    expect(await decide(admin, other, 'deny', { passkey })).toMatchObject({ status: 200, json: { status: 'denied' } });
    const evidence = await evidenceOf(await deedOf(other));
    expect(evidence.map(({ member }) => member)).toContain('approval.decided_by.assertion');
  });

  it('is given by the same request, sent again, once', async () => {
    const one = await held();
    const { context_digest } = await read(admin, one);
    const body = { context_digest, passkey: await signed(one) };
    const path = `/v1/approvals/${one.approval}/approve`;
    const headers = { 'Idempotency-Key': `signed-${one.approval}` };
    expect(await admin.post(path, body, headers)).toMatchObject({ status: 200, json: { status: 'approved' } });
    expect(await admin.post(path, body, headers)).toMatchObject({ status: 200, json: { status: 'approved' } });
  });

  it('notes how often the device signed: a fall is told, and refuses nothing', async () => {
    const fellAt = async (): Promise<unknown> =>
      ((await admin.get('/v1/passkeys')).json['data'] as { name: string; counter_fell_at: string | null }[]).find(
        ({ name }) => name === 'Key',
      )?.counter_fell_at;
    for (const signCount of [7, 7]) {
      const one = await held();
      expect(await fellAt()).toBe(null);
      const passkey = await signed(one, 'approve', counting, { signCount });
      expect(await decide(admin, one, 'approve', { passkey })).toMatchObject({ status: 200 });
    }
    expect(await fellAt()).toEqual(expect.any(String));
  });
});

describe('the link of a mail', () => {
  const mailed = async (): Promise<{ readonly token: string; readonly digest: string } & Held> => {
    const one = await held();
    const token = await vi.waitFor(
      async () => {
        const waiting = await bench.deployment.people.desk.waiting();
        const found = waiting.find(({ id }) => id === `${one.approval}.${adminId}`);
        expect(found).toBeDefined();
        return /#token=([A-Za-z0-9_-]{43})$/m.exec(found?.mail.text ?? '')?.[1] ?? '';
      },
      { timeout: 30_000, interval: 50 },
    );
    const { json } = await phone.post('/v1/approvals/link/preview', { token });
    const { context_digest: digest, signed: isSigned } = json['approval'] as {
      context_digest: string;
      signed: boolean;
    };
    expect(isSigned).toBe(true);
    return { ...one, token, digest };
  };
  let phone: Browser;
  beforeAll(async () => {
    phone = bench.browser('198.51.100.7');
    // A person gets ten mails an hour about the calls of one agent.
    agent = await newAgent('by-mail');
  });

  it('decides by the passkey of its person, and by nothing less', async () => {
    const { token, digest: context_digest, ...one } = await mailed();
    const yes = { token, decision: 'approve', context_digest };
    expect(await phone.post('/v1/approvals/link/decide', yes)).toMatchObject({
      status: 403,
      error: { code: 'approval_needs_passkey' },
    });
    const request = await phone.post('/v1/approvals/link/passkey/options', yes);
    expect(request).toMatchObject({ status: 200, json: { object: 'approval_passkey_request' } });
    const lied = device.sign(challengeOf(request), { flags: 0x01 });
    expect(await phone.post('/v1/approvals/link/decide', { ...yes, passkey: lied })).toMatchObject({
      status: 400,
      error: { code: 'passkey_invalid' },
    });
    // Refused for a reason that may pass: the link still works.
    const passkey = device.sign(challengeOf(request));
    expect(await phone.post('/v1/approvals/link/decide', { ...yes, passkey })).toMatchObject({
      status: 200,
      json: { status: 'approved' },
    });
    expect((await evidenceOf(await deedOf(one))).map(({ member }) => member)).toContain(
      'approval.decided_by.assertion',
    );
  });

  it('denies without one', async () => {
    const { token, digest: context_digest } = await mailed();
    const no = { token, decision: 'deny', context_digest };
    expect(await phone.post('/v1/approvals/link/decide', no)).toMatchObject({
      status: 200,
      json: { status: 'denied' },
    });
  });

  it('that is none is told nothing', async () => {
    const body = { token: 'A'.repeat(43), decision: 'approve', context_digest: `sha256:${'0'.repeat(64)}` };
    expect(await phone.post('/v1/approvals/link/passkey/options', body)).toMatchObject({
      status: 401,
      error: { code: 'approval_link_invalid' },
    });
  });
});

describe('the organization', () => {
  it('may want every approval signed: an owner’s to say, and sealed', async () => {
    const change = { approvals: { signed: true } };
    expect(await admin.send('PATCH', '/v1/org', change)).toMatchObject({
      status: 403,
      error: { code: 'insufficient_role', param: 'approvals' },
    });
    const { json } = await owner.send('PATCH', '/v1/org', change);
    expect(json).toMatchObject({ approvals: { mail: 'decide', chat: 'off', signed: true } });
    const data = await vi.waitFor(
      async () => {
        const [opening] = await evidenceOf(json['deed'] as string);
        expect(opening).toBeDefined();
        return opening?.value;
      },
      { timeout: 20_000, interval: 50 },
    );
    expect(data).toMatchObject({ approvals: { signed: true }, fields: ['approvals'] });
    const one = await held('pay.note');
    expect(await decide(admin, one, 'approve')).toMatchObject({ error: { code: 'approval_needs_passkey' } });
    const off = await owner.send('PATCH', '/v1/org', { approvals: { signed: false } });
    expect(off.json).toMatchObject({ approvals: { signed: false } });
    // What was asked for with the approval stands.
    expect(await decide(admin, one, 'approve')).toMatchObject({ error: { code: 'approval_needs_passkey' } });
    expect(await decide(admin, await held('pay.note'), 'approve')).toMatchObject({ status: 200 });
    expect(await owner.send('PATCH', '/v1/org', { approvals: { signed: 'yes' } })).toMatchObject({
      status: 400,
      error: { code: 'validation_failed', param: 'approvals.signed' },
    });
  });
});
