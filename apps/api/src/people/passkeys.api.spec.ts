import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { canonicalize, commitmentOf, type JsonObject } from '#libs/crypto';
import type { UserId } from '#libs/domain/kernel';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';
import { passkeyAt, signInBy } from '../../../../test/support/passkey-scene.js';
import { SoftAuthenticator } from '../../../../test/support/soft-authenticator.js';

let bench: PeopleBench;
let owner: Browser;

beforeAll(async () => {
  bench = await PeopleBench.start();
  await bench.giveAddress(bench.owner, 'owner@example.com');
  owner = await bench.ownerBrowser();
});
afterAll(() => bench?.close());

const SITE = { rpId: 'ags.example.com', origin: 'https://ags.example.com' };
const device = (alg: -7 | -8 = -7) => new SoftAuthenticator(SITE, alg);
let clients = 0;
const stranger = (): Browser => bench.browser(`198.51.100.${(clients += 1)}`);

interface ListedDeed {
  readonly id: string;
  readonly about: { readonly admin?: string; readonly target?: { readonly id: string } };
}

/** What the newest deed of a change to this passkey commits to, once it is sealed. */
const sealedOf = async (action: string, passkey: unknown): Promise<unknown> => {
  const deed = await vi.waitFor(
    async () => {
      const { json } = await owner.get('/v1/deeds?kind=admin&limit=100');
      const deeds = json['data'] as readonly ListedDeed[];
      const found = deeds.find(({ about }) => about.admin === action && about.target?.id === passkey);
      if (found === undefined) throw new Error(`no deed ${action} of ${String(passkey)}`);
      return found;
    },
    { timeout: 20_000, interval: 100 },
  );
  const { json } = await owner.get(`/v1/deeds/${deed.id}/evidence`);
  const [data] = json['data'] as readonly [{ commitment: string; salt: string; value: JsonObject }];
  expect(commitmentOf(data.salt, canonicalize(data.value))).toBe(data.commitment);
  return data.value;
};

describe('a passkey', () => {
  it.each([-7, -8] as const)('of algorithm %i is registered, listed, signs in and is removed', async (alg) => {
    const person = await bench.member(owner, `person${alg}@example.com`, 'viewer');
    const own = device(alg);
    const asked = await person.post('/v1/passkeys/options');
    expect(asked).toMatchObject({
      status: 200,
      json: {
        object: 'passkey_creation',
        public_key: {
          rp: { id: 'ags.example.com', name: 'Agent Governance Service' },
          user: { displayName: `person${alg}@example.com` },
          pubKeyCredParams: [
            { type: 'public-key', alg: -7 },
            { type: 'public-key', alg: -8 },
          ],
          excludeCredentials: [],
          authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'required' },
          attestation: 'none',
        },
      },
    });
    const made = await passkeyAt(person, own, { name: 'Laptop', discoverable: true, asked });
    expect(made).toMatchObject({
      status: 201,
      json: {
        ...{ object: 'passkey', name: 'Laptop', alg, rp_id: 'ags.example.com', discoverable: true },
        ...{ last_used_at: null, counter_fell_at: null },
      },
    });
    const again = await person.post('/v1/passkeys/options');
    expect(again.json['public_key']).toMatchObject({
      excludeCredentials: [{ type: 'public-key', id: own.credential }],
    });

    const browser = stranger();
    const entered = await signInBy(browser, own, { next: '/app/approvals' });
    expect(entered).toMatchObject({
      status: 200,
      json: { object: 'me', session: { via: 'passkey', org: bench.org }, next: '/app/approvals' },
    });
    expect((await browser.get('/v1/me')).json).toMatchObject({ user: { email: `person${alg}@example.com` } });
    const { json } = await person.get('/v1/passkeys');
    expect(json['data']).toMatchObject([{ id: made.json['id'], last_used_at: expect.any(String) as string }]);

    const path = `/v1/passkeys/${made.json['id'] as string}`;
    expect(await person.send('DELETE', path)).toMatchObject({
      status: 200,
      json: { object: 'passkey', deleted: true },
    });
    expect((await person.get('/v1/passkeys')).json['data']).toEqual([]);
    expect(await signInBy(stranger(), own)).toMatchObject({ status: 400, error: { code: 'passkey_invalid' } });
    // What it opened goes on.
    expect(await browser.get('/v1/me')).toMatchObject({ status: 200 });
  });

  it('is told to its person by mail, and to the organization as a security event and a deed', async () => {
    const person = await bench.member(owner, 'told@example.com', 'admin');
    const own = device();
    const made = await passkeyAt(person, own, { name: 'Phone' });
    const mail = await bench.mail('told@example.com');
    expect(mail.text).toContain('The passkey "Phone" was added to your account');
    expect(mail.text).toContain('https://ags.example.com/app/settings/sessions');
    const removed = await person.send('DELETE', `/v1/passkeys/${made.json['id'] as string}`);
    expect(removed.status).toBe(200);
    const { json } = await owner.get('/v1/security-events?type=passkey.registered,passkey.removed');
    const about = { user: (await person.get('/v1/me')).json['user'] as { id: UserId } };
    const told = { user: about.user.id, key: { id: made.json['id'] }, by: { type: 'user', id: about.user.id } };
    expect((json['data'] as unknown[]).slice(0, 2)).toMatchObject([
      { type: 'passkey.removed', ...told },
      { type: 'passkey.registered', ...told },
    ]);
    // As docs/deed-format.md has it, from what the device itself knows.
    const { alg, credential, spki: public_key } = own;
    const data = { alg, credential, public_key, rp_id: 'ags.example.com', user: about.user.id };
    expect(await sealedOf('passkey.registered', made.json['id'])).toEqual(data);
    expect(await sealedOf('passkey.removed', made.json['id'])).toEqual({ credential, user: about.user.id });
  });

  it('is told by mail also where it was removed at once', async () => {
    const person = await bench.member(owner, 'quick@example.com', 'viewer');
    const made = await passkeyAt(person, device(), { name: 'Gone' });
    await person.send('DELETE', `/v1/passkeys/${made.json['id'] as string}`);
    expect((await bench.mail('quick@example.com')).text).toContain('"Gone"');
  });

  it('is made once by a request that is sent twice, and is one of ten', async () => {
    const person = await bench.member(owner, 'ten@example.com', 'viewer');
    const own = device();
    const asked = await person.post('/v1/passkeys/options');
    const key = { 'Idempotency-Key': 'one' };
    const made = await passkeyAt(person, own, { name: 'One', asked, headers: key });
    const answered = await passkeyAt(person, own, { name: 'One', asked, headers: key });
    expect([made.status, answered.json]).toEqual([201, made.json]);
    for (let count = 1; count < 10; count += 1) {
      expect(await passkeyAt(person, device(), { name: `P${count}` })).toMatchObject({ status: 201 });
    }
    const { json } = await person.get('/v1/passkeys?limit=3');
    expect((json['data'] as { name: string }[]).map(({ name }) => name)).toEqual(['P9', 'P8', 'P7']);
    expect(await person.post('/v1/passkeys/options')).toMatchObject({ status: 409, error: { code: 'conflict' } });
  });

  it('whose sign counter falls signs in, and says so', async () => {
    const person = await bench.member(owner, 'copied@example.com', 'viewer');
    const own = device();
    const made = await passkeyAt(person, own, { name: 'Counting' });
    const counterFell = async () =>
      ((await person.get('/v1/passkeys')).json['data'] as { counter_fell_at: string | null }[])[0]?.counter_fell_at;
    expect(await signInBy(stranger(), own, { lies: { signCount: 5 } })).toMatchObject({ status: 200 });
    expect(await counterFell()).toBe(null);
    expect(await signInBy(stranger(), own, { lies: { signCount: 5 } })).toMatchObject({ status: 200 });
    expect(await counterFell()).toEqual(expect.any(String));
    const { id: user } = (await person.get('/v1/me')).json['user'] as { id: string };
    const attention = async () =>
      ((await owner.get('/v1/overview')).json['attention'] as { kind: string; ids: string[] }[]).filter(
        ({ kind }) => kind === 'passkey_counter_fell',
      );
    // An answer is kept for ten seconds.
    await vi.waitFor(
      async () =>
        expect(await attention()).toMatchObject([{ ids: [made.json['id'], user], fell_at: await counterFell() }]),
      { timeout: 20_000, interval: 500 },
    );
  });

  it('that counts nothing has not fallen', async () => {
    const person = await bench.member(owner, 'synced@example.com', 'viewer');
    const own = device();
    await passkeyAt(person, own, { name: 'Synced' });
    for (let count = 0; count < 2; count += 1) expect(await signInBy(stranger(), own)).toMatchObject({ status: 200 });
    expect((await person.get('/v1/passkeys')).json['data']).toMatchObject([{ counter_fell_at: null }]);
  });

  it('is over with the membership, and says so in the chain', async () => {
    const person = await bench.member(owner, 'removed@example.com', 'viewer');
    const own = device();
    const made = await passkeyAt(person, own, { name: 'Old' });
    await bench.mail('removed@example.com');
    const { id } = (await person.get('/v1/me')).json['membership'] as { id: string };
    expect(await owner.send('DELETE', `/v1/org/members/${id}`)).toMatchObject({ status: 200 });
    expect(await signInBy(stranger(), own)).toMatchObject({ status: 400, error: { code: 'passkey_invalid' } });
    expect(await sealedOf('passkey.removed', made.json['id'])).toMatchObject({ user: expect.any(String) as string });
    // Who comes back registers anew, also the same device.
    const back = await bench.member(owner, 'removed@example.com', 'viewer');
    expect((await back.get('/v1/passkeys')).json['data']).toEqual([]);
    expect(await passkeyAt(back, own, { name: 'Again' })).toMatchObject({ status: 201 });
    expect(await signInBy(stranger(), own)).toMatchObject({ status: 200 });
  });

  it('is over with the address: whoever read the old mailbox may have made it', async () => {
    const person = await bench.member(owner, 'moving@example.com', 'viewer');
    const own = device();
    await passkeyAt(person, own, { name: 'Old' });
    const { id } = (await person.get('/v1/me')).json['user'] as { id: UserId };
    await bench.giveAddress(id, 'moved@example.com');
    expect(await signInBy(stranger(), own)).toMatchObject({ status: 400, error: { code: 'passkey_invalid' } });
  });

  it('has its row erased with the person', async () => {
    const person = await bench.member(owner, 'erased@example.com', 'viewer');
    await passkeyAt(person, device(), { name: 'Ada’s phone' });
    const { user, membership } = (await person.get('/v1/me')).json as Record<string, { id: string }>;
    expect(await bench.deployment.people.passkeys.ofUser(user?.id as UserId, bench.org)).toHaveLength(1);
    await owner.send('DELETE', `/v1/org/members/${membership?.id ?? ''}`);
    await bench.deployment.people.directory.erase(user?.id as UserId);
    expect(await bench.deployment.people.passkeys.ofUser(user?.id as UserId, bench.org)).toEqual([]);
  });
});
