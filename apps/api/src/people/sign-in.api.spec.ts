import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UserId } from '#libs/domain/kernel';
import { PeopleBench } from '../../../../test/support/people-bench.js';

let bench: PeopleBench;

beforeAll(async () => {
  bench = await PeopleBench.start();
  await bench.giveAddress(bench.owner, 'owner@example.com');
});
afterAll(() => bench?.close());

describe('signing in', () => {
  it('by the link of a mail, once', async () => {
    const browser = bench.browser('198.51.100.1');
    const asked = await browser.post('/v1/auth/login', { email: 'Owner@Example.com', next: '/app/actions' });
    expect(asked).toMatchObject({
      status: 202,
      json: { object: 'login_request', expires_in_s: 900, code_digits: 6 },
    });
    const mail = await bench.mail('owner@example.com');
    expect(mail.text).toContain(bench.link(mail.token));
    const preview = await browser.post('/v1/auth/preview', { token: mail.token });
    expect(preview.json).toMatchObject({
      object: 'login_preview',
      purpose: 'sign_in',
      email: 'owner@example.com',
      org: { id: bench.org },
      role: 'owner',
    });
    const answer = await browser.use(mail.token);
    expect(answer).toMatchObject({ status: 200, json: { object: 'me', next: '/app/actions' } });
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-service_session=[A-Za-z0-9_-]{43}; Max-Age=60479\d|604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
      expect.stringMatching(/^__Host-service_csrf=[A-Za-z0-9_-]{43}; Max-Age=\d+; Path=\/; Secure; SameSite=Strict$/),
      expect.stringMatching(/^__Host-service_login=; Max-Age=0; /),
    ]);
    const again = await bench.browser('198.51.100.1').use(mail.token);
    expect(again).toMatchObject({ status: 400, error: { code: 'login_link_invalid' } });
    expect((await browser.get('/v1/me')).json).toMatchObject({
      object: 'me',
      user: { object: 'user', id: bench.owner, email: 'owner@example.com' },
      session: { object: 'session', via: 'link', current: true, org: bench.org },
      membership: { role: 'owner', status: 'active' },
      organizations: [{ id: bench.org, role: 'owner' }],
      csrf_token: browser.csrf,
    });
  });

  it('by the code, in the browser that asked alone', async () => {
    const [browser, thief] = [bench.browser('198.51.100.2'), bench.browser('198.51.100.3')];
    await browser.post('/v1/auth/login', { email: 'owner@example.com' });
    const { code } = await bench.mail('owner@example.com');
    const body = { email: 'owner@example.com', code };
    const miss = { status: 400, error: { code: 'login_code_invalid', type: 'invalid_request_error', param: null } };
    expect(await thief.post('/v1/auth/callback', body)).toMatchObject(miss);
    expect(await browser.post('/v1/auth/callback', { ...body, code: '000000' })).toMatchObject(miss);
    expect(await browser.post('/v1/auth/callback', { ...body, email: 'nobody@example.com' })).toMatchObject(miss);
    expect(await browser.post('/v1/auth/callback', { ...body, code: '12 3456' })).toMatchObject(miss);
    const answer = await browser.post('/v1/auth/callback', body);
    expect(answer).toMatchObject({ status: 200, json: { session: { via: 'code' }, next: '/app' } });
    expect(await browser.post('/v1/auth/callback', body)).toMatchObject(miss);
  });

  it('tells nobody whether an address is known (rule PEOPLE-5)', async () => {
    const answers = [];
    for (const email of ['owner@example.com', 'stranger@example.com']) {
      const { status, json, headers } = await bench.browser('198.51.100.4').post('/v1/auth/login', { email });
      const names = [...headers.keys()].filter((name) => name !== 'date').sort();
      const cookie = headers.getSetCookie().map((line) => line.replace(/=[^;]+;/, '=;'));
      answers.push({ status, json, names, cookie });
    }
    expect(answers[0]).toEqual(answers[1]);
    await bench.mail('owner@example.com');
  });

  it('refuses what is no address, and what is neither link nor code', async () => {
    const browser = bench.browser('198.51.100.5');
    for (const email of ['jane@example.com\r\nBcc: q@q.com', 'a@x.com, b@x.com', 'jane', '']) {
      expect(await browser.post('/v1/auth/login', { email })).toMatchObject({
        status: 400,
        error: { code: 'validation_failed', param: 'email' },
      });
    }
    expect(await browser.post('/v1/auth/callback', {})).toMatchObject({
      error: { code: 'validation_failed', param: 'token' },
    });
    const both = { token: 'x', email: 'a@b.com', code: '1' };
    expect(await browser.post('/v1/auth/callback', both)).toMatchObject({
      error: { code: 'validation_failed', param: 'token' },
    });
    expect(await browser.post('/v1/auth/callback', { email: 'a@b.com' })).toMatchObject({ error: { param: 'code' } });
    expect(await browser.post('/v1/auth/preview', { token: 'x'.repeat(5_000) })).toMatchObject({ status: 413 });
    expect(await browser.post('/v1/auth/preview', { token: 'nonsense' })).toMatchObject({
      status: 400,
      error: { code: 'login_link_invalid' },
    });
  });

  it('is limited by address, by mailbox and by failures (rule PEOPLE-6)', async () => {
    const browser = bench.browser('198.51.100.6');
    for (let count = 0; count < 5; count += 1) {
      expect((await browser.post('/v1/auth/login', { email: 'limited@example.com' })).status).toBe(202);
    }
    const sixth = await browser.post('/v1/auth/login', { email: 'limited@example.com' });
    expect(sixth).toMatchObject({ status: 429, error: { code: 'rate_limited', type: 'rate_limit_error' } });
    expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(3_500);
    for (let count = 5; count < 20; count += 1) {
      expect((await browser.post('/v1/auth/login', { email: `l${count}@example.com` })).status).toBe(202);
    }
    expect(await browser.post('/v1/auth/login', { email: 'l21@example.com' })).toMatchObject({ status: 429 });
    const guesser = bench.browser('198.51.100.7');
    for (let count = 0; count < 30; count += 1) {
      expect((await guesser.post('/v1/auth/preview', { token: `t${count}` })).status).toBe(400);
    }
    expect(await guesser.post('/v1/auth/preview', { token: 't' })).toMatchObject({ status: 429 });
    // Another client goes on.
    expect((await bench.browser('198.51.100.8').post('/v1/auth/preview', { token: 't' })).status).toBe(400);
  });

  it('is taken from nobody by a stranger, who asks again and again and tries codes', async () => {
    const owner = await bench.ownerBrowser();
    await bench.member(owner, 'wanted@example.com', 'viewer');
    const [person, stranger] = [bench.browser('198.51.100.11'), bench.browser('198.51.100.12')];
    await person.post('/v1/auth/login', { email: 'wanted@example.com' });
    const held = await bench.mail('wanted@example.com');
    for (let count = 0; count < 5; count += 1) {
      expect((await stranger.post('/v1/auth/login', { email: 'wanted@example.com' })).status).toBe(202);
      await bench.mail('wanted@example.com');
      await stranger.post('/v1/auth/callback', { email: 'wanted@example.com', code: held.code });
    }
    expect(await stranger.post('/v1/auth/login', { email: 'wanted@example.com' })).toMatchObject({ status: 429 });
    // The code first, which works in this browser still; then another mail, and its link.
    const byCode = { email: 'wanted@example.com', code: held.code };
    expect(await person.post('/v1/auth/callback', byCode)).toMatchObject({ status: 200 });
    const elsewhere = bench.browser('198.51.100.13');
    expect((await elsewhere.post('/v1/auth/login', { email: 'wanted@example.com' })).status).toBe(202);
    expect((await elsewhere.use((await bench.mail('wanted@example.com')).token)).status).toBe(200);
  });

  it('is void by what was mailed to an address that its person no longer has', async () => {
    const owner = await bench.ownerBrowser();
    const member = await bench.member(owner, 'moving@example.com', 'viewer');
    const { id } = (await member.get('/v1/me')).json['user'] as { id: UserId };
    const old = bench.browser('198.51.100.10');
    await old.post('/v1/auth/login', { email: 'moving@example.com' });
    const { token, code } = await bench.mail('moving@example.com');
    await bench.giveAddress(id, 'moved@example.com');
    expect(await old.use(token)).toMatchObject({ status: 400, error: { code: 'login_link_invalid' } });
    const byCode = { email: 'moving@example.com', code };
    expect(await old.post('/v1/auth/callback', byCode)).toMatchObject({ error: { code: 'login_code_invalid' } });
    await old.post('/v1/auth/login', { email: 'moved@example.com' });
    expect(await old.use((await bench.mail('moved@example.com')).token)).toMatchObject({ status: 200 });
  });

  it('is for pages of this service alone (rule PEOPLE-10)', async () => {
    const answer = await bench
      .browser('198.51.100.9')
      .post('/v1/auth/callback', { token: 'x' }, { Origin: 'https://evil.example' });
    expect(answer).toMatchObject({ status: 403, error: { code: 'csrf_failed' } });
  });
});

describe('codes that are guessed all over the deployment', () => {
  it('are paused by no attempt that could not have been right', async () => {
    const browser = bench.browser('198.51.100.41');
    await browser.post('/v1/auth/login', { email: 'owner@example.com' });
    const { code } = await bench.mail('owner@example.com');
    const malformed = bench.browser('198.51.100.42');
    await malformed.post('/v1/auth/login', { email: 'owner@example.com' });
    for (const guess of ['', '12 3456', '1234567']) {
      await malformed.post('/v1/auth/callback', { email: 'owner@example.com', code: guess });
    }
    await bench.mail('owner@example.com');
    for (let client = 0; client < 10; client += 1) {
      for (let count = 0; count < 6; count += 1) {
        const guess = { email: 'owner@example.com', code: '000000' };
        const answer = await bench.browser(`203.0.113.${client}`).post('/v1/auth/callback', guess);
        expect(answer.error['code']).toBe('login_code_invalid');
      }
    }
    expect(await bench.deployment.people.misses.areTooMany(Date.now())).toBe(false);
    expect((await browser.post('/v1/auth/callback', { email: 'owner@example.com', code })).status).toBe(200);
  });

  it('are paused, also the right one; links go on, and health says so (rule PEOPLE-7)', async () => {
    const browser = bench.browser('198.51.100.40');
    await browser.post('/v1/auth/login', { email: 'owner@example.com' });
    const mail = await bench.mail('owner@example.com');
    for (let count = 0; count < 31; count += 1) {
      await bench.deployment.people.misses.count(Date.now(), `192.0.2.${100 + (count % 10)}`);
    }
    expect(await browser.post('/v1/auth/callback', { email: 'owner@example.com', code: mail.code })).toMatchObject({
      status: 400,
      error: { code: 'login_code_invalid' },
    });
    const health = await browser.get('/v1/health');
    expect(health.json).toMatchObject({ checks: { sign_in: 'degraded' } });
    expect((await browser.use(mail.token)).status).toBe(200);
  });
});

describe('a session', () => {
  it('ends with signing out, and everywhere', async () => {
    const [first, second] = [await bench.ownerBrowser(), await bench.ownerBrowser()];
    const listed = await first.get('/v1/sessions');
    expect((listed.json['data'] as unknown[]).length).toBeGreaterThan(1);
    const jar = first.jar;
    const out = await first.post('/v1/auth/logout');
    expect(out.status).toBe(204);
    expect(first.jar).toBe('');
    expect(await bench.browser().get('/v1/me', { Cookie: jar })).toMatchObject({ error: { code: 'session_expired' } });
    expect((await second.get('/v1/me')).status).toBe(200);
    const third = await bench.ownerBrowser();
    expect((await third.post('/v1/auth/logout', { everywhere: true })).status).toBe(204);
    expect(await second.get('/v1/me')).toMatchObject({ status: 401, error: { code: 'session_expired' } });
  });

  it('is ended by its id, one’s own alone', async () => {
    const [first, second] = [await bench.ownerBrowser(), await bench.ownerBrowser()];
    const { id } = (await second.get('/v1/me')).json['session'] as { id: string };
    expect(await first.send('DELETE', `/v1/sessions/${id}`)).toMatchObject({
      status: 200,
      json: { id, deleted: true },
    });
    expect(await second.get('/v1/me')).toMatchObject({ error: { code: 'session_expired' } });
    expect(await first.send('DELETE', `/v1/sessions/${id}`)).toMatchObject({ status: 404 });
  });

  it('proves its changes by its own token', async () => {
    const [browser, other] = [await bench.ownerBrowser(), await bench.ownerBrowser()];
    const refused = { status: 403, error: { code: 'csrf_failed' } };
    expect(await browser.post('/v1/org/stop', {}, { 'Service-CSRF': other.csrf ?? '' })).toMatchObject(refused);
    expect(await browser.post('/v1/org/stop', {}, { 'Sec-Fetch-Site': 'cross-site' })).toMatchObject(refused);
    expect((await browser.get('/v1/org')).json).toMatchObject({ status: 'active' });
  });
});
