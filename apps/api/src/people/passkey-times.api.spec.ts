import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { challengeOf, passkeyAt, signInBy } from '../../../../test/support/passkey-scene.js';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';
import { SoftAuthenticator } from '../../../../test/support/soft-authenticator.js';

let bench: PeopleBench;
let owner: Browser;
const device = () => new SoftAuthenticator({ rpId: 'ags.example.com', origin: 'https://ags.example.com' });

const MINUTE = 60_000;

beforeAll(async () => {
  bench = await PeopleBench.start();
  await bench.giveAddress(bench.owner, 'owner@example.com');
  owner = await bench.ownerBrowser();
});
afterAll(() => bench?.close());

describe('that approvals need no passkey any more is said by an owner who signed in less than ten minutes ago', () => {
  const set = (signed: boolean, change: object = {}) =>
    owner.send('PATCH', '/v1/org', { approvals: { signed }, ...change });

  it('and not by a session that was left open', async () => {
    expect(await bench.later(11 * MINUTE, () => set(true))).toMatchObject({ status: 200 });
    expect(await bench.later(10 * MINUTE, () => set(false, { name: 'Changed with it' }))).toMatchObject(TOO_OLD);
    const { json } = await owner.send('GET', '/v1/org');
    expect(json).toMatchObject({ approvals: { signed: true } });
    expect(json['name']).not.toBe('Changed with it');
    expect(
      await bench.later(11 * MINUTE, () => owner.send('PATCH', '/v1/org', { approvals: { mail: 'review_only' } })),
    ).toMatchObject({
      status: 200,
    });
    expect(await bench.later(9 * MINUTE, () => set(false))).toMatchObject({ status: 200 });
    // It is off already.
    expect(await bench.later(11 * MINUTE, () => set(false))).toMatchObject({ status: 200 });
  });
});

const TOO_OLD = { status: 403, error: { code: 'recent_sign_in_required', type: 'permission_error', param: null } };

describe('a passkey is registered by who signed in less than ten minutes ago', () => {
  it('neither asked for nor sent later', async () => {
    const person = await bench.member(owner, 'late@example.com', 'viewer');
    // Which also ends what was asked before it, so what is sent below is asked for after it.
    expect(await bench.later(9 * MINUTE, () => person.post('/v1/passkeys/options'))).toMatchObject({ status: 200 });
    const asked = await person.post('/v1/passkeys/options');
    expect(await bench.later(10 * MINUTE, () => person.post('/v1/passkeys/options'))).toMatchObject(TOO_OLD);
    expect(await bench.later(10 * MINUTE, () => passkeyAt(person, device(), { name: 'Late', asked }))).toMatchObject(
      TOO_OLD,
    );
    expect(await passkeyAt(person, device(), { name: 'In time', asked })).toMatchObject({ status: 201 });
  });

  it('and whoever switches organizations has not signed in by it', async () => {
    const person = await bench.member(owner, 'switcher@example.com', 'viewer');
    await bench.later(11 * MINUTE, async () => {
      expect(await person.post('/v1/auth/switch-org', { org: bench.org })).toMatchObject({ status: 200 });
      person.csrf = person.cookie('csrf') ?? null;
      expect(await person.post('/v1/passkeys/options')).toMatchObject(TOO_OLD);
    });
  });

  it('by a passkey as well as by mail', async () => {
    const person = await bench.member(owner, 'both@example.com', 'viewer');
    const own = device();
    expect(await passkeyAt(person, own, { name: 'First' })).toMatchObject({ status: 201 });
    const browser = bench.browser('198.51.100.1');
    await bench.later(30 * MINUTE, async () => {
      expect(await signInBy(browser, own)).toMatchObject({ status: 200 });
      expect(await passkeyAt(browser, device(), { name: 'Second' })).toMatchObject({ status: 201 });
    });
  });
});

describe('a challenge', () => {
  it('is good for five minutes', async () => {
    const person = await bench.member(owner, 'slow@example.com', 'viewer');
    const own = device();
    const asked = await person.post('/v1/passkeys/options');
    const slow = await bench.later(5 * MINUTE, () => passkeyAt(person, own, { name: 'Slow', asked }));
    expect(slow).toMatchObject({ status: 400, error: { code: 'passkey_invalid' } });
    expect(await passkeyAt(person, own, { name: 'Quick' })).toMatchObject({ status: 201 });
    const browser = bench.browser('198.51.100.2');
    const entering = await browser.post('/v1/auth/passkey/options');
    const late = await bench.later(5 * MINUTE, () => signInBy(browser, own, { asked: entering }));
    expect(late).toMatchObject({ status: 400, error: { code: 'passkey_invalid' } });
  });

  it('that is over leaves no row behind', async () => {
    const { challenges } = bench.deployment.people;
    const browser = bench.browser('198.51.100.3');
    const asked = await browser.post('/v1/auth/passkey/options');
    expect(challengeOf(asked)).toMatch(/^[A-Za-z0-9_-]{43}$/);
    await bench.later(6 * MINUTE, () => browser.post('/v1/auth/passkey/options'));
    const over = { challengeHash: Buffer.alloc(32), purpose: 'sign_in', holder: '' } as const;
    expect(await challenges.take(over, 0)).toBe(false);
  });
});

describe('of whoever has no address', () => {
  it('a passkey is registered without a mail', async () => {
    const second = await PeopleBench.start();
    try {
      const first = await second.ownerBrowser();
      expect(await passkeyAt(first, device(), { name: 'Mine' })).toMatchObject({ status: 201 });
      expect(await second.deployment.people.desk.notices(10)).toEqual([]);
    } finally {
      await second.close();
    }
  });
});

describe('a service at an IP address', () => {
  it('has no passkeys, and says what to do', async () => {
    const second = await PeopleBench.start({ SERVICE_BASE_URL: 'https://192.0.2.7' });
    try {
      const headers = { Origin: 'https://192.0.2.7' };
      const refused = {
        status: 404,
        error: { code: 'not_found', message: expect.stringContaining('SERVICE_BASE_URL') as string },
      };
      const person = await second.ownerBrowser().catch(() => null);
      expect(await second.browser().post('/v1/auth/passkey/options', {}, headers)).toMatchObject(refused);
      const credential = device().sign('x');
      expect(await second.browser().post('/v1/auth/passkey/verify', { credential }, headers)).toMatchObject(refused);
      expect(person).toBe(null);
    } finally {
      await second.close();
    }
  });
});
