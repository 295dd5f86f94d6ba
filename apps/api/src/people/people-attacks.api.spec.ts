import { CreateOrganization } from '#libs/domain/agents/handlers';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idOf, operatorMetadata, type UserId } from '#libs/domain/kernel';
import { requireMailAddress } from '#libs/domain/people';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

let bench: PeopleBench;
let owner: Browser;

beforeAll(async () => {
  bench = await PeopleBench.start();
  owner = await bench.ownerBrowser();
});
afterAll(() => bench.close());

describe('another address', () => {
  it('ends the links and codes that were mailed to the old one', async () => {
    const me = await (await bench.member(owner, 'old@example.com', 'admin')).get('/v1/me');
    const browser = bench.browser();
    await browser.post('/v1/auth/login', { email: 'old@example.com' });
    const { token, code } = await bench.mail('old@example.com');
    await bench.giveAddress((me.json['user'] as { id: UserId }).id, 'new@example.com');
    expect((await browser.use(token)).error['code']).toBe('login_link_invalid');
    const byCode = await browser.post('/v1/auth/callback', { email: 'old@example.com', code });
    expect(byCode.error['code']).toBe('login_code_invalid');
  });
});

describe('mails', () => {
  it('are held up by no invitations that were refused', async () => {
    await bench.member(owner, 'waits@example.com', 'viewer');
    for (let count = 0; count < 101; count += 1) {
      const invitation = randomBytes(16).toString('hex');
      await bench.deployment.people.orders.orderInvitation({
        id: invitation,
        address: requireMailAddress(`nobody${count}@example.com`),
        user: idOf('usr', randomBytes(16)),
        org: idOf('org', randomBytes(16)),
        membership: idOf('mem', randomBytes(16)),
        invitation,
        requestedAtMs: Date.now(),
        expiresAtMs: Date.now() + 60_000,
      });
    }
    await bench.browser('192.0.2.20').post('/v1/auth/login', { email: 'waits@example.com' });
    expect((await bench.mail('waits@example.com')).token).not.toBe('');
  });
});

describe('a session', () => {
  it('has one successor, however often it is switched at once', async () => {
    const browser = await bench.member(owner, 'switches@example.com', 'viewer');
    const cookie = browser.jar;
    const csrf = browser.csrf as string;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        fetch(`${bench.url}/v1/auth/switch-org`, {
          method: 'POST',
          headers: { Cookie: cookie, 'Service-CSRF': csrf, 'Content-Type': 'application/json' },
          body: JSON.stringify({ org: bench.org }),
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(7);
  });

  it('that is switching on and on is over once its person signed out everywhere', async () => {
    const thief = await bench.member(owner, 'everywhere@example.com', 'viewer');
    const person = bench.browser('192.0.2.21');
    await person.post('/v1/auth/login', { email: 'everywhere@example.com' });
    await person.use((await bench.mail('everywhere@example.com')).token);
    const switching = (async () => {
      for (;;) {
        const { status } = await thief.post('/v1/auth/switch-org', { org: bench.org });
        if (status !== 200) return status;
        thief.csrf = thief.cookie('csrf') ?? null;
      }
    })();
    expect((await person.post('/v1/auth/logout', { everywhere: true })).status).toBe(204);
    expect(await switching).toBe(401);
    expect((await thief.get('/v1/me')).status).toBe(401);
  });
});

describe('an invitation whose maker may not invite any more', () => {
  it('opens nothing, and its link says so before it is used', async () => {
    const admin = await bench.member(owner, 'maker@example.com', 'admin');
    expect((await admin.post('/v1/org/members', { email: 'guest@example.com', role: 'viewer' })).status).toBe(201);
    const { token } = await bench.mail('guest@example.com');
    const browser = bench.browser('192.0.2.22');
    expect((await browser.post('/v1/auth/preview', { token })).status).toBe(200);
    const { id } = (await admin.get('/v1/me')).json['membership'] as { id: string };
    expect((await owner.send('DELETE', `/v1/org/members/${id}`)).status).toBe(200);
    expect((await browser.post('/v1/auth/preview', { token })).error['code']).toBe('login_link_invalid');
    expect((await browser.use(token)).error['code']).toBe('login_link_invalid');
  });
});

describe('sessions of an organization that somebody was removed from', () => {
  it('are not listed elsewhere: they open nothing', async () => {
    const { deployment } = bench;
    const made = await deployment.commands.execute(
      new CreateOrganization('Elsewhere', operatorMetadata(deployment, null)),
    );
    const { org, owner: other } = made.organization;
    const elsewhere = bench.browser('192.0.2.23');
    await elsewhere.use(await deployment.persons().issueLink(org, other, operatorMetadata(deployment, org)));
    const person = await bench.member(elsewhere, 'both@example.com', 'viewer');
    const here = await bench.member(owner, 'both@example.com', 'viewer');
    const orgsOf = async () =>
      ((await person.get('/v1/sessions')).json['data'] as { org: string }[]).map((session) => session.org);
    expect((await orgsOf()).sort()).toEqual([org, bench.org].sort());
    const { id } = (await here.get('/v1/me')).json['membership'] as { id: string };
    await owner.send('DELETE', `/v1/org/members/${id}`);
    expect(await orgsOf()).toEqual([org]);
  });
});

describe('references', () => {
  it.each(['references', 'chat_accounts'])('%s that are no array are refused', async (field) => {
    const list = await owner.get('/v1/org/members');
    const [{ id }] = list.json['data'] as [{ id: string }];
    const answer = await owner.send('PATCH', `/v1/org/members/${id}`, { [field]: 'abc' });
    expect(answer.status).toBe(400);
    expect(answer.error['param']).toBe(field);
  });
});
