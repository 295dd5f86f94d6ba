import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { UserId } from '#libs/domain/kernel';
import { secretText } from '#libs/domain/people';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

const UNKNOWN = 'The session has ended. Sign in again at /login.';
const ADDRESS_CHANGED = /^You were signed out because your address was changed\. Sign in with the new address/;

let bench: PeopleBench;
let owner: Browser;

beforeAll(async () => {
  bench = await PeopleBench.start();
  await bench.giveAddress(bench.owner, 'owner@example.com');
  owner = await bench.ownerBrowser();
});
afterAll(() => bench?.close());

interface Me {
  readonly user: { readonly id: UserId };
  readonly session: { readonly id: string };
  readonly membership: { readonly id: string };
}

const meOf = async (browser: Browser) => (await browser.get('/v1/me')).json as unknown as Me;
/** What a browser is told that comes with a cookie of a session that is over. */
const toldTo = async (browser: Browser) => {
  const { status, error } = await browser.get('/v1/me');
  expect([status, error['code'], error['param']]).toEqual([401, 'session_expired', null]);
  return error['message'];
};

describe('a browser whose session ended elsewhere', () => {
  it('is told that the address was changed, and whoever holds another cookie is not', async () => {
    const person = await bench.member(owner, 'moving@example.com', 'viewer');
    const { user } = await meOf(person);
    await bench.giveAddress(user.id, 'moved@example.com');
    expect(await toldTo(person)).toMatch(ADDRESS_CHANGED);
    const stranger = { Cookie: `__Host-service_session=${secretText(randomBytes(32))}` };
    expect(await bench.browser().get('/v1/me', stranger)).toMatchObject({ error: { message: UNKNOWN } });
    expect(await bench.browser().get('/v1/me')).toMatchObject({ error: { code: 'authentication_required' } });
  });

  it('is told so as well where the process ended before the row was gone', async () => {
    const person = await bench.member(owner, 'cut@example.com', 'viewer');
    const { user } = await meOf(person);
    vi.spyOn(bench.deployment.people.rows, 'remove').mockRejectedValueOnce(new Error('cut off'));
    await expect(bench.giveAddress(user.id, 'off@example.com')).rejects.toThrow('cut off');
    expect(await toldTo(person)).toMatch(ADDRESS_CHANGED);
    await bench.giveAddress(user.id, 'off@example.com');
    expect(await toldTo(person)).toMatch(ADDRESS_CHANGED);
  });

  it('is told that it was ended from another session, or by signing out everywhere', async () => {
    const [first, second, third] = [await bench.ownerBrowser(), await bench.ownerBrowser(), await bench.ownerBrowser()];
    await first.send('DELETE', `/v1/sessions/${(await meOf(second)).session.id}`);
    expect(await toldTo(second)).toMatch(/from another of your sessions/);
    await first.post('/v1/auth/logout', { everywhere: true });
    expect(await toldTo(third)).toMatch(/signed out everywhere in another browser/);
    owner = await bench.ownerBrowser();
  });

  it('is told that its member was removed', async () => {
    const person = await bench.member(owner, 'leaving@example.com', 'viewer');
    const { membership } = await meOf(person);
    expect((await owner.send('DELETE', `/v1/org/members/${membership.id}`)).status).toBe(200);
    expect(await toldTo(person)).toMatch(/no longer a member/);
  });

  it('is told nothing of what its person did there', async () => {
    const browser = await bench.ownerBrowser();
    const { jar } = browser;
    await browser.post('/v1/auth/logout');
    expect(await bench.browser().get('/v1/me', { Cookie: jar })).toMatchObject({ error: { message: UNKNOWN } });
  });
});
