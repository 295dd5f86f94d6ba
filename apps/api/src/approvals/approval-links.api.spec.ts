import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MAIL_CHANNEL, type UserId } from '#libs/domain/kernel';
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
    match:
      tools:
        - pay.refund
    decision: require_approval
`;
const TOOL = {
  name: 'refund',
  description: 'Gives money back',
  method: 'POST',
  path: '/v1/refunds',
  args: { amount: { in: 'body', type: 'integer' }, note: { in: 'body', type: 'string' } },
};
const ADMIN = 'admin@example.com';
const SECRET_NOTE = 'for nobody but approvers';

let upstream: Upstream;
let bench: PeopleBench;
let [owner, admin] = [] as unknown as [Browser, Browser];
let adminId: UserId;
/** Nobody who is signed in. */
let phone: Browser;

beforeAll(async () => {
  upstream = await startUpstream();
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  owner = await bench.ownerBrowser();
  admin = await bench.member(owner, ADMIN, 'admin');
  await bench.member(owner, 'viewer@example.com', 'viewer');
  adminId = ((await admin.get('/v1/me')).json['user'] as { id: UserId }).id;
  phone = bench.browser('198.51.100.1');
  const config = {
    allowed_methods: ['POST'],
    allowed_path_prefixes: ['/v1'],
    tools: [TOOL],
    base_url: upstream.baseUrl,
  };
  expect((await admin.post('/v1/connectors', { type: 'rest', name: 'pay', config })).status).toBe(201);
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

/** Nobody gets more mails than these about the calls of one agent in an hour, so another one goes on. */
const CALLS_AN_AGENT = 10;
let calls = 0;
let key: Record<string, string>;

const agentKey = async (): Promise<Record<string, string>> => {
  if (calls % CALLS_AN_AGENT === 0) {
    const { status, json } = await admin.post('/v1/agents', { name: `support-${calls}`, key: {} });
    expect(status).toBe(201);
    key = { Authorization: `Bearer ${String(json['secret'])}` };
  }
  calls += 1;
  return key;
};

const held = async (args: object = { amount: 500, note: SECRET_NOTE }): Promise<Held> => {
  const body = { tool: 'pay.refund', args, wait: 0 };
  const { status, json } = await bench.browser().post('/v1/actions', body, await agentKey());
  expect(status).toBe(202);
  const action = json['id'] as string;
  return { action, approval: action.replace('act_', 'apr_') };
};

interface Mailed extends Held {
  readonly to: string;
  readonly text: string;
  readonly token: string;
}

/** The mail to one person about one approval. */
const mailAbout = async (one: Held, user: UserId): Promise<Mailed> =>
  vi.waitFor(
    async () => {
      const waiting = await bench.deployment.people.desk.waiting();
      const found = waiting.find(({ id }) => id === `${one.approval}.${user}`);
      if (!found) throw new Error('no mail yet');
      const { to, text } = found.mail;
      return { ...one, to, text, token: /#token=([A-Za-z0-9_-]{43})$/m.exec(text)?.[1] ?? '' };
    },
    { timeout: 30_000, interval: 50 },
  );

const mailed = async (args?: object): Promise<Mailed> => mailAbout(await held(args), adminId);

const preview = (token: string, browser = phone): Promise<BrowserAnswer> =>
  browser.post('/v1/approvals/link/preview', { token });
const shownDigest = async (token: string): Promise<string> =>
  ((await preview(token)).json['approval'] as { context_digest: string }).context_digest;
const decide = async (token: string, decision: string, more: object = {}): Promise<BrowserAnswer> =>
  phone.post('/v1/approvals/link/decide', { token, decision, context_digest: await shownDigest(token), ...more });
const invalid = { status: 401, error: { code: 'approval_link_invalid', type: 'authentication_error', param: null } };

const door = async (mail: string): Promise<void> => {
  expect((await owner.send('PATCH', '/v1/org', { approvals: { mail } })).status).toBe(200);
};

describe('a mail about an approval', () => {
  it('says which agent wants which tool, by which rule and until when, and nothing of the arguments', async () => {
    const { text, to, approval } = await mailed();
    expect(to).toBe(ADMIN);
    expect(text).toContain('"pay.refund"');
    expect(text).toContain('"refunds"');
    expect(text).toMatch(/Decide by \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    expect(text).toContain(`/auth/approve#token=`);
    expect(text).not.toContain(SECRET_NOTE);
    expect(text).not.toContain('500');
    expect(text).not.toContain(approval);
  });

  it('goes to those who may approve, and to nobody else', async () => {
    const { approval } = await mailed();
    const waiting = await bench.deployment.people.desk.waiting();
    expect(waiting.filter(({ id }) => id.startsWith(approval)).map(({ mail }) => mail.to)).toEqual([ADMIN]);
  });

  it('is written once, whoever looks how often', async () => {
    const { approval } = await mailed();
    await Promise.all(Array.from({ length: 4 }, () => bench.deployment.approvalMailClerk().write()));
    const waiting = await bench.deployment.people.desk.waiting();
    expect(waiting.filter(({ id }) => id === `${approval}.${adminId}`)).toHaveLength(1);
  });

  it('is written as soon as the call waits, and not at the next sweep', async () => {
    const bells: string[] = [];
    const unsubscribe = bench.deployment.bus.subscribe(MAIL_CHANNEL, () => bells.push('mail'));
    await held();
    await vi.waitUntil(() => bells.length > 0, { timeout: 30_000 });
    unsubscribe();
  });

  it('is not sent any more when its approval has ended', async () => {
    const [open, denied] = [await mailed(), await mailed()];
    expect((await owner.post(`/v1/approvals/${denied.approval}/deny`)).status).toBe(200);
    const { people, database, bus } = bench.deployment;
    // As after a mail server that was away: both are due once more.
    await database.durable.query(`update people.outbox set due_ms = 0 where id like any($1)`, [
      [`${open.approval}.%`, `${denied.approval}.%`],
    ]);
    bus.publish(MAIL_CHANNEL, '');
    const waiting = async () => (await people.desk.waiting()).map(({ id }) => id.split('.')[0]);
    await vi.waitFor(async () => expect(await waiting()).not.toContain(denied.approval), { timeout: 30_000 });
    expect(await waiting()).toContain(open.approval);
  });

  it('is not written where the organization wants none', async () => {
    await door('off');
    const { action, approval } = await held();
    const { dueActions, people } = bench.deployment;
    await vi.waitFor(
      async () => {
        const due = await dueActions.dueBy('9999-12-31T00:00:00.000Z', null, 1_000);
        expect(due.map((one) => one.action)).toContain(action);
        expect(await people.links.unwritten(100, null)).toEqual([]);
      },
      { timeout: 30_000, interval: 50 },
    );
    await door('decide');
    const waiting = await bench.deployment.people.desk.waiting();
    expect(waiting.filter(({ id }) => id.startsWith(approval))).toEqual([]);
  });
});

describe('the link of such a mail', () => {
  it('shows the approval as that person sees it in the Console, and uses nothing', async () => {
    const { token, approval } = await mailed();
    const inConsole = (await admin.get(`/v1/approvals/${approval}`)).json;
    for (let look = 0; look < 3; look += 1) {
      const { status, json } = await preview(token);
      expect([status, json]).toEqual([200, { object: 'approval_link', decides: true, approval: inConsole }]);
    }
    expect(inConsole).toMatchObject({ context: { args: { note: SECRET_NOTE } }, you: { eligible: true } });
  });

  it('approves: by that person, by mail', async () => {
    const { token, action, approval } = await mailed();
    const answer = await decide(token, 'approve', { reason: 'As agreed.' });
    expect(answer).toMatchObject({
      status: 200,
      json: { id: approval, status: 'approved', decided_by: { id: adminId } },
    });
    const events = await bench.deployment.database.store.readStream(`action-${action}`);
    const decided = events.find(({ type }) => type === 'ApprovalDecided');
    expect(JSON.parse(decided?.data ?? '{}')).toMatchObject({ by: adminId, via: 'mail', reason: 'As agreed.' });
    expect(await preview(token)).toMatchObject(invalid);
  });

  it('denies', async () => {
    const { token } = await mailed();
    expect(await decide(token, 'deny')).toMatchObject({ status: 200, json: { status: 'denied' } });
    expect(await preview(token)).toMatchObject(invalid);
  });

  it('decides once, however many press at once', async () => {
    const { token, approval } = await mailed({ amount: 5_000 });
    const context_digest = await shownDigest(token);
    const body = { token, decision: 'approve', context_digest };
    const answers = await Promise.all(Array.from({ length: 8 }, () => phone.post('/v1/approvals/link/decide', body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
    expect((await admin.get(`/v1/approvals/${approval}`)).json).toMatchObject({ status: 'pending', countersigned: 1 });
  });

  it('works again where it was refused for a reason that passes', async () => {
    const { token } = await mailed();
    const context_digest = `sha256:${'0'.repeat(64)}`;
    const changed = { status: 409, error: { code: 'context_changed' } };
    expect(await decide(token, 'approve', { context_digest })).toMatchObject(changed);
    expect((await owner.post('/v1/org/stop', { reason: 'A drill' })).status).toBe(200);
    expect(await decide(token, 'approve')).toMatchObject({ status: 403, error: { code: 'org_stopped' } });
    expect((await owner.post('/v1/org/start', { reason: 'Over' })).status).toBe(200);
    expect(await decide(token, 'approve')).toMatchObject({ status: 200, json: { status: 'approved' } });
  });

  it('is over when somebody else was first', async () => {
    const { token, approval } = await mailed();
    const context_digest = await shownDigest(token);
    expect((await owner.post(`/v1/approvals/${approval}/deny`)).status).toBe(200);
    // What became of it is still shown.
    expect((await preview(token)).json).toMatchObject({ decides: false, approval: { status: 'denied' } });
    const body = { token, decision: 'approve', context_digest };
    expect(await phone.post('/v1/approvals/link/decide', body)).toMatchObject({ error: { code: 'approval_decided' } });
    expect(await phone.post('/v1/approvals/link/decide', body)).toMatchObject(invalid);
  });

  it('only shows where the organization decides in the Console', async () => {
    const { token } = await mailed();
    await door('review_only');
    expect((await preview(token)).json).toMatchObject({ decides: false, approval: { status: 'pending' } });
    const refused = { status: 403, error: { code: 'approval_link_review_only', type: 'permission_error' } };
    expect(await decide(token, 'approve')).toMatchObject(refused);
    expect(await decide(token, 'deny')).toMatchObject(refused);
    await door('off');
    expect(await preview(token)).toMatchObject(invalid);
    await door('decide');
    expect(await decide(token, 'deny')).toMatchObject({ status: 200 });
  });

  it('refuses what is no link, no decision and no digest', async () => {
    const { token } = await mailed();
    const context_digest = await shownDigest(token);
    for (const text of ['', 'nonsense', token.slice(1), `${token}A`, token.toLowerCase()]) {
      expect(await preview(text, bench.browser('198.51.100.2')), text).toMatchObject(invalid);
    }
    const send = (body: object) => phone.post('/v1/approvals/link/decide', body);
    expect(await send({ token, decision: 'maybe', context_digest })).toMatchObject({ error: { param: 'decision' } });
    expect(await send({ token, decision: 'deny' })).toMatchObject({ error: { param: 'context_digest' } });
    expect(await send({ decision: 'deny', context_digest })).toMatchObject({ error: { param: 'token' } });
    expect(await decide(token, 'deny')).toMatchObject({ status: 200 });
  });

  it('is for pages of this service alone', async () => {
    const { token } = await mailed();
    for (const path of ['preview', 'decide']) {
      const body = { token, decision: 'deny', context_digest: `sha256:${'0'.repeat(64)}` };
      const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
      expect(
        await phone.post(`/v1/approvals/link/${path}`, path === 'preview' ? { token } : body, foreign),
      ).toMatchObject({ status: 403, error: { code: 'csrf_failed' } });
    }
  });

  it('is not guessed for long', async () => {
    const guesser = bench.browser('198.51.100.3');
    for (let count = 0; count < 30; count += 1) expect((await preview(`t${count}`, guesser)).status).toBe(401);
    expect(await preview('t', guesser)).toMatchObject({ status: 429, error: { code: 'rate_limited' } });
  });

  it('signs nobody in', async () => {
    const { token } = await mailed();
    expect(await bench.browser('198.51.100.4').use(token)).toMatchObject({ error: { code: 'login_link_invalid' } });
  });

  it('is void when its person has another address, and when that person is a member no more', async () => {
    const browser = await bench.member(owner, 'leaving@example.com', 'admin');
    const { id } = (await browser.get('/v1/me')).json['user'] as { id: UserId };
    const first = await mailAbout(await held(), id);
    expect((await preview(first.token)).status).toBe(200);
    await bench.giveAddress(id, 'left@example.com');
    expect(await preview(first.token)).toMatchObject(invalid);
    const second = await mailAbout(await held(), id);
    expect(second.to).toBe('left@example.com');
    expect((await preview(second.token)).status).toBe(200);
    const { data } = (await owner.get('/v1/org/members')).json as { data: { id: string; user: string }[] };
    const membership = data.find(({ user }) => user === id)?.id ?? '';
    expect((await owner.send('DELETE', `/v1/org/members/${membership}`)).status).toBeLessThan(300);
    expect(await preview(second.token)).toMatchObject(invalid);
  });
});
