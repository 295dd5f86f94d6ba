import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UserId } from '#libs/domain/kernel';
import { challengeOf, passkeyAt, signInBy } from '../../../../test/support/passkey-scene.js';
import { type Browser, type BrowserAnswer, PeopleBench } from '../../../../test/support/people-bench.js';
import { type Lies, SoftAuthenticator } from '../../../../test/support/soft-authenticator.js';

let bench: PeopleBench;
let owner: Browser;
let victim: Browser;
/** The victim's. */
let known: SoftAuthenticator;

const SITE = { rpId: 'ags.example.com', origin: 'https://ags.example.com' };
const device = () => new SoftAuthenticator(SITE);
let clients = 0;
const stranger = (): Browser => bench.browser(`198.51.100.${(clients += 1)}`);

beforeAll(async () => {
  bench = await PeopleBench.start();
  await bench.giveAddress(bench.owner, 'owner@example.com');
  owner = await bench.ownerBrowser();
  victim = await bench.member(owner, 'victim@example.com', 'admin');
  known = device();
  expect(await passkeyAt(victim, known, { name: 'Mine' })).toMatchObject({ status: 201 });
});
afterAll(() => bench?.close());

const MISS = { status: 400, error: { code: 'passkey_invalid', type: 'invalid_request_error', param: null } };

const LIES: readonly (readonly [string, Lies])[] = [
  ['for another site', { rpId: 'evil.example.com' }],
  ['from a page of another origin', { origin: 'https://evil.example.com' }],
  ['by a device that verified nobody', { flags: 0x01 }],
  ['by a device at which nobody was', { flags: 0x04 }],
  ['in a frame of another site', { others: { crossOrigin: true } }],
  ['over a challenge of its own', { challenge: 'd'.repeat(43) }],
  ['over what is no challenge', { challenge: '' }],
  ['in another ceremony', { type: 'payment.get' }],
];

describe('a sign-in by a passkey', () => {
  it.each(LIES)('is refused %s', async (_how, lies) => {
    const browser = stranger();
    expect(await signInBy(browser, known, { lies })).toMatchObject(MISS);
    expect(browser.cookie('session')).toBeUndefined();
  });

  it('is refused with a changed signature, and with a part of another answer', async () => {
    const signature = Buffer.from(known.sign('x').signature, 'base64url').toString('base64url');
    expect(await signInBy(stranger(), known, { instead: { signature } })).toMatchObject(MISS);
    const authenticator_data = known.sign('x', { signCount: 9 }).authenticator_data;
    expect(await signInBy(stranger(), known, { instead: { authenticator_data } })).toMatchObject(MISS);
  });

  it('uses a challenge up, whatever comes of it', async () => {
    const browser = stranger();
    const asked = await browser.post('/v1/auth/passkey/options');
    expect(await signInBy(browser, known, { asked, instead: { signature: 'AAAA' } })).toMatchObject(MISS);
    expect(await signInBy(browser, known, { asked })).toMatchObject(MISS);
  });

  it('replayed opens nothing, not in the same browser either', async () => {
    const browser = stranger();
    const asked = await browser.post('/v1/auth/passkey/options');
    const jar = browser.jar;
    const credential = known.sign(challengeOf(asked));
    const verify = (by: Browser, headers = {}) => by.post('/v1/auth/passkey/verify', { credential }, headers);
    expect(await verify(browser)).toMatchObject({ status: 200 });
    expect(await verify(stranger(), { Cookie: jar })).toMatchObject(MISS);
  });

  it('is judged once where the same answer comes many times at once', async () => {
    const browser = stranger();
    const credential = known.sign(challengeOf(await browser.post('/v1/auth/passkey/options')));
    const jar = browser.jar;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => stranger().post('/v1/auth/passkey/verify', { credential }, { Cookie: jar })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 400)]);
  });

  it('is worth something only in the browser that asked', async () => {
    const [person, thief] = [stranger(), stranger()];
    const asked = await person.post('/v1/auth/passkey/options');
    expect(await signInBy(thief, known, { asked })).toMatchObject(MISS);
    await thief.post('/v1/auth/passkey/options');
    expect(await signInBy(thief, known, { asked })).toMatchObject(MISS);
    // And takes it from nobody.
    expect(await signInBy(person, known, { asked })).toMatchObject({ status: 200 });
  });

  it('takes no challenge that was given for a registration', async () => {
    const asked = await victim.post('/v1/passkeys/options');
    expect(await signInBy(victim, known, { asked })).toMatchObject(MISS);
  });

  it('is refused by a passkey that nobody registered, under its own id and under a known one', async () => {
    const forged = device();
    expect(await signInBy(stranger(), forged)).toMatchObject(MISS);
    expect(await signInBy(stranger(), forged, { instead: { id: known.credential } })).toMatchObject(MISS);
    expect(await signInBy(stranger(), known, { instead: { id: forged.credential } })).toMatchObject(MISS);
  });

  it('is refused where the device takes the passkey for another account', async () => {
    const user_handle = Buffer.from('mem_00000000000000000000000000').toString('base64url');
    expect(await signInBy(stranger(), known, { instead: { user_handle } })).toMatchObject(MISS);
  });

  it('is of no use to whoever has the row and not the stream', async () => {
    const planted = device();
    const { user, membership } = (await victim.get('/v1/me')).json as Record<string, { id: string }>;
    const of = { user: user?.id as UserId, org: bench.org, membership: membership?.id as never };
    const row = { credential: planted.credential, ...of, name: 'x', isOffered: true, signCount: 0 };
    expect(await bench.deployment.people.passkeys.note(row)).toBe(true);
    expect(await signInBy(stranger(), planted)).toMatchObject(MISS);
  });

  it('asks for nothing that would tell who exists, and answers everybody alike', async () => {
    const answers = await Promise.all([stranger(), victim].map((browser) => browser.post('/v1/auth/passkey/options')));
    const shapes = answers.map(({ status, json }) => [
      status,
      JSON.stringify(json).replace(challengeOf({ json } as BrowserAnswer), ''),
    ]);
    expect(shapes[0]).toEqual(shapes[1]);
    expect(answers[0]?.json).toMatchObject({ public_key: { allowCredentials: [], userVerification: 'required' } });
    const named = await stranger().post('/v1/auth/passkey/options', { email: 'victim@example.com' });
    const unknown = await stranger().post('/v1/auth/passkey/options', { email: 'nobody@example.com' });
    expect(named.status).toBe(unknown.status);
  });

  it('is refused from a page of another site', async () => {
    const headers = { Origin: 'https://evil.example.com', 'Sec-Fetch-Site': 'cross-site' };
    for (const path of ['/v1/auth/passkey/options', '/v1/auth/passkey/verify']) {
      expect(await stranger().post(path, {}, headers)).toMatchObject({ status: 403, error: { code: 'csrf_failed' } });
    }
  });

  it('takes no huge answers', async () => {
    const credential = known.sign(challengeOf(await stranger().post('/v1/auth/passkey/options')));
    const verify = (others: object) =>
      stranger().post('/v1/auth/passkey/verify', { credential: { ...credential, ...others } });
    expect(await verify({ signature: 'A'.repeat(17_000) })).toMatchObject({ status: 413 });
    expect(await verify({ signature: 'A'.repeat(9_000) })).toMatchObject(MISS);
    expect(await verify({ client_data_json: 'W'.repeat(12_000) })).toMatchObject(MISS);
    expect(await verify({ id: 'A'.repeat(2_000) })).toMatchObject({
      status: 400,
      error: { code: 'validation_failed', param: 'credential.id' },
    });
    expect(await verify({ rawId: 'x' })).toMatchObject({ status: 400, error: { code: 'validation_failed' } });
    expect(await verify({ signature: 1 })).toMatchObject({ error: { param: 'credential.signature' } });
    for (const nothing of [undefined, null, 1, 'x', []]) {
      const asked = { status: 400, error: { code: 'validation_failed', param: 'credential' } };
      expect(await stranger().post('/v1/auth/passkey/verify', { credential: nothing })).toMatchObject(asked);
      expect(await victim.post('/v1/passkeys', { name: 'x', credential: nothing })).toMatchObject(asked);
    }
  });

  it('is limited by misses and by requests, as any sign-in', async () => {
    const guesser = stranger();
    for (let count = 0; count < 30; count += 1) {
      expect((await guesser.post('/v1/auth/passkey/verify', { credential: known.sign('x') })).status).toBe(400);
    }
    expect(await guesser.post('/v1/auth/passkey/verify', { credential: known.sign('x') })).toMatchObject({
      status: 429,
      error: { code: 'rate_limited' },
    });
    const asking = stranger();
    for (let count = 0; count < 60; count += 1) {
      expect((await asking.post('/v1/auth/passkey/options')).status).toBe(200);
    }
    expect(await asking.post('/v1/auth/passkey/options')).toMatchObject({ status: 429 });
    expect((await stranger().post('/v1/auth/passkey/options')).status).toBe(200);
  });
});

describe('a registration', () => {
  it.each([
    ...LIES.filter(([, { type }]) => type === undefined),
    ['in another ceremony', { type: 'webauthn.get' }] as const,
  ])('is refused %s', async (_how, lies) => {
    const made = await passkeyAt(victim, device(), { name: 'Bad', lies });
    expect(made).toMatchObject(MISS);
  });

  it('is refused with a challenge of another session, of another person, or of a sign-in', async () => {
    const other = await bench.member(owner, 'other@example.com', 'viewer');
    const asked = await other.post('/v1/passkeys/options');
    expect(await passkeyAt(victim, device(), { name: 'Bad', asked })).toMatchObject(MISS);
    const entering = await victim.post('/v1/auth/passkey/options');
    expect(await passkeyAt(victim, device(), { name: 'Bad', asked: entering })).toMatchObject(MISS);
    // Nobody used it up for its owner.
    expect(await passkeyAt(other, device(), { name: 'Good', asked })).toMatchObject({ status: 201 });
  });

  it('is refused with a challenge that was used', async () => {
    const asked = await victim.post('/v1/passkeys/options');
    expect(await passkeyAt(victim, device(), { name: 'Bad', asked, lies: { flags: 0 } })).toMatchObject(MISS);
    expect(await passkeyAt(victim, device(), { name: 'Bad', asked })).toMatchObject(MISS);
  });

  it('takes nobody’s passkey from them: not by the same credential under a key of one’s own', async () => {
    const thief = await bench.member(owner, 'thief@example.com', 'viewer');
    const forged = new SoftAuthenticator(SITE, -7, Buffer.from(known.credential, 'base64url'));
    expect(await passkeyAt(thief, forged, { name: 'Bad' })).toMatchObject({
      status: 409,
      error: { code: 'conflict', param: 'credential' },
    });
    expect(await passkeyAt(victim, forged, { name: 'Bad' })).toMatchObject({ status: 409 });
    expect((await victim.get('/v1/passkeys')).json['data']).toMatchObject([{ name: 'Mine' }]);
    expect(await signInBy(stranger(), forged)).toMatchObject(MISS);
    expect(await signInBy(stranger(), known)).toMatchObject({ status: 200 });
  });

  it('is seen and removed by its person alone', async () => {
    const { json } = await victim.get('/v1/passkeys');
    const [{ id }] = json['data'] as [{ id: string }];
    expect((await owner.get('/v1/passkeys')).json['data']).toEqual([]);
    const removed = await owner.send('DELETE', `/v1/passkeys/${id}`);
    expect(removed).toMatchObject({ status: 404, error: { code: 'not_found' } });
    for (const nothing of ['pky_00000000000000000000000000', 'x', known.credential]) {
      expect(await victim.send('DELETE', `/v1/passkeys/${nothing}`)).toMatchObject({ status: 404 });
    }
  });

  it('needs a session, not a key, and proof that a page of this service sent it', async () => {
    const headers = bench.adminKey;
    const { status } = await bench.browser().post('/v1/passkeys/options', {}, headers);
    expect([401, 403]).toContain(status);
    expect(await victim.post('/v1/passkeys/options', {}, { 'Service-CSRF': 'x' })).toMatchObject({
      status: 403,
      error: { code: 'csrf_failed' },
    });
  });

  it('takes no name that is none, and no huge answers', async () => {
    for (const name of ['', 'two\nlines', 'x'.repeat(121)]) {
      expect(await passkeyAt(owner, device(), { name })).toMatchObject({
        status: 400,
        error: { code: 'validation_failed', param: 'name' },
      });
    }
    const credential = device().register(challengeOf(await owner.post('/v1/passkeys/options')));
    const register = (others: object) =>
      owner.post('/v1/passkeys', { name: 'Bad', credential: { ...credential, ...others } });
    expect(await register({ attestation_object: 'A'.repeat(33_000) })).toMatchObject({ status: 413 });
    expect(await register({ id: 'A'.repeat(2_000) })).toMatchObject({ error: { param: 'credential.id' } });
    expect(await register({ attestation_object: 'gYGB'.repeat(5_000) })).toMatchObject(MISS);
  });
});
