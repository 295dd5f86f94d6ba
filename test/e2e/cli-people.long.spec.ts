import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runAgsHere } from '../support/run-ags.js';
import { type RunningService, startService } from '../support/service.js';

let service: RunningService;
const ags = (...args: string[]) => runAgsHere(args, { env: service.environment });

beforeAll(async () => {
  service = await startService({ env: { LOG_LEVEL: 'error' } });
});
afterAll(() => service?.stop());

/** A browser without a window: cookies, and the origin of the service's own pages. */
const signIn = async (token: string) => {
  const answer = await fetch(`${service.baseUrl}/v1/auth/callback`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: service.baseUrl },
    body: JSON.stringify({ token }),
  });
  const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0] as string);
  return { status: answer.status, me: (await answer.json()) as Record<string, unknown>, cookie: cookies.join('; ') };
};
const tokenIn = (text: unknown): string => /#token=([A-Za-z0-9_-]{43})/.exec(String(text))?.[1] ?? '';
const mailTo = (address: string) =>
  vi.waitFor(
    async () => {
      const { objects } = await ags('mail', 'outbox', '--json');
      const mail = objects.find(({ to }) => to === address);
      if (!mail) throw new Error(`no mail to ${address}`);
      return mail;
    },
    { timeout: 60_000, interval: 500 },
  );

describe('ags people', () => {
  it('makes a link that signs the owner in, once', async () => {
    const { code, object } = await ags('people', 'login-link', '--json');
    expect(code).toBe(0);
    expect(object).toMatchObject({ object: 'login_link', expires_in_s: 900 });
    const token = tokenIn(object['link']);
    const signedIn = await signIn(token);
    expect(signedIn).toMatchObject({
      status: 200,
      me: { object: 'me', user: { email: null }, membership: { role: 'owner' } },
    });
    expect(signedIn.cookie).toMatch(/^service_session=[^;]+; service_csrf=/);
    expect((await signIn(token)).status).toBe(400);
  });

  it('gives the owner an address, and ends the sessions there are', async () => {
    const owner = String((await ags('people', 'login-link', '--json')).object['user']);
    const { cookie } = await signIn(tokenIn((await ags('people', 'login-link', '--json')).object['link']));
    const me = () => fetch(`${service.baseUrl}/v1/me`, { headers: { Cookie: cookie } });
    expect((await me()).status).toBe(200);
    const set = await ags('people', 'set-address', owner, 'Owner@Example.com', '--json');
    expect(set).toMatchObject({ code: 0, object: { user: owner, email: 'Owner@example.com' } });
    expect((await me()).status).toBe(401);
    await fetch(`${service.baseUrl}/v1/auth/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'owner@example.com' }),
    });
    const mail = await mailTo('Owner@example.com');
    expect((await signIn(tokenIn(mail['text']))).me).toMatchObject({ user: { email: 'Owner@example.com' } });
  });

  it('invites, lists, removes and erases', async () => {
    const invited = await ags('people', 'invite', 'jane@example.com', '--role', 'admin', '--json');
    expect(invited).toMatchObject({ code: 0, object: { status: 'invited', role: 'admin', email: 'jane@example.com' } });
    const { id, user } = invited.object as { id: string; user: string };
    const signedIn = await signIn(tokenIn((await mailTo('jane@example.com'))['text']));
    expect(signedIn.me).toMatchObject({ session: { via: 'invite' }, membership: { role: 'admin' } });
    expect((await ags('people', 'list', '--json')).objects).toHaveLength(2);
    const early = await ags('people', 'erase', user, '--json');
    expect(early).toMatchObject({ code: 1, error: { code: 'conflict' } });
    expect((await ags('people', 'remove', id, '--json')).code).toBe(0);
    expect((await fetch(`${service.baseUrl}/v1/me`, { headers: { Cookie: signedIn.cookie } })).status).toBe(401);
    expect((await ags('people', 'erase', user, '--json')).code).toBe(0);
    const { stdout } = await ags('people', 'list');
    expect(stdout).not.toContain('jane');
  });

  it('says what is wrong, and where to look', async () => {
    const nobody = await ags('people', 'login-link', 'usr_00000000000000000000000009');
    expect(nobody).toMatchObject({ code: 1, stdout: '' });
    expect(nobody.stderr).toContain('people list');
    expect((await ags('people', 'invite', 'jane')).stderr).toContain('jane@example.com');
  });

  // Last: with two organizations every command has to name one.
  it('signs the owner of another organization in by the link that made it', async () => {
    const { code, object } = await ags('org', 'create', 'Support Europe', '--json');
    expect(code).toBe(0);
    const signedIn = await signIn(tokenIn(object['sign_in_link']));
    expect(signedIn).toMatchObject({ status: 200, me: { membership: { role: 'owner', org: object['id'] } } });
  });
});
