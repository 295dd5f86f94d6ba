import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

let bench: PeopleBench;
let owner: Browser;

beforeAll(async () => {
  bench = await PeopleBench.start();
  await bench.giveAddress(bench.owner, 'owner@example.com');
  owner = await bench.ownerBrowser();
});
afterAll(() => bench?.close());

interface Person {
  readonly browser: Browser;
  readonly user: string;
  readonly membership: string;
}

let people = 0;
const newAdmin = async (): Promise<Person> => {
  people += 1;
  const browser = await bench.member(owner, `admin-${people}@example.com`, 'admin');
  const { membership } = (await browser.get('/v1/me')).json as { membership: { id: string; user: string } };
  return { browser, user: membership.user, membership: membership.id };
};

interface Made {
  readonly id: string;
  readonly headers: { readonly Authorization: string };
}

const make = async ({ browser }: Pick<Person, 'browser'>, body: object = {}): Promise<Made> => {
  const { json } = await browser.post('/v1/org/keys', body);
  return { id: json['id'] as string, headers: { Authorization: `Bearer ${json['secret'] as string}` } };
};
const answerTo = async ({ headers }: Made) => {
  const { status, error } = await bench.browser().get('/v1/org', headers);
  return error?.code ?? status;
};
const listed = async (id: string) =>
  ((await owner.get('/v1/org/keys?limit=100')).json['data'] as { id: string }[]).find((key) => key.id === id);

describe('admin keys', () => {
  it('say who made them and when they were used', async () => {
    const admin = await newAdmin();
    const key = await make(admin);
    expect(await listed(key.id)).toMatchObject({
      created_by: { type: 'user', id: admin.user },
      last_used_at: null,
      replaced_by: null,
    });
    const before = Date.now();
    expect(await answerTo(key)).toBe(200);
    const { last_used_at: used } = (await listed(key.id)) as unknown as { last_used_at: string };
    expect(Date.parse(used)).toBeGreaterThanOrEqual(before);
    // Once in a while, and not at every request.
    expect(await answerTo(key)).toBe(200);
    expect(await listed(key.id)).toMatchObject({ last_used_at: used });
    const operators = (await owner.get('/v1/org/keys?limit=100')).json['data'] as { created_by: object }[];
    expect(operators.at(-1)).toMatchObject({ created_by: { type: 'operator', id: null } });
  });

  it('end when they are to end', async () => {
    const end = new Date(Date.now() + 60_000).toISOString();
    const key = await make({ browser: owner }, { expires_at: end });
    expect(await listed(key.id)).toMatchObject({ expires_at: end });
    expect(await answerTo(key)).toBe(200);
    for (const wrong of ['2020-01-01T00:00:00Z', 'tomorrow', 5]) {
      expect(await owner.post('/v1/org/keys', { expires_at: wrong })).toMatchObject({
        status: 400,
        error: { code: 'validation_failed', param: 'expires_at' },
      });
    }
  });
});

describe('a person who goes', () => {
  it('takes along the admin keys that nobody keeps, each with a deed', async () => {
    const admin = await newAdmin();
    const [gone, kept] = [await make(admin), await make(admin)];
    const path = `/v1/org/members/${admin.membership}`;
    const { status, json } = await owner.send('DELETE', `${path}?keep_keys[]=${kept.id}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ status: 'removed', revoked_keys: [gone.id], kept_keys: [kept.id] });
    expect(json['deeds']).toHaveLength(2);
    expect(await answerTo(gone)).toBe('api_key_revoked');
    expect(await answerTo(kept)).toBe(200);
  });

  it('takes them along by leaving, and by a demotion', async () => {
    const [leaver, demoted] = [await newAdmin(), await newAdmin()];
    const [first, second] = [await make(leaver), await make(demoted)];
    await leaver.browser.send('DELETE', `/v1/org/members/${leaver.membership}`);
    expect(await answerTo(first)).toBe('api_key_revoked');
    const { json } = await owner.send('PATCH', `/v1/org/members/${demoted.membership}`, { role: 'viewer' });
    expect(json).toMatchObject({ role: 'viewer', revoked_keys: [second.id], kept_keys: [] });
    expect(json['deeds']).toHaveLength(2);
    expect(await answerTo(second)).toBe('api_key_revoked');
  });

  it('stays, where a key that is to be kept is none of theirs, or is misspelt', async () => {
    const admin = await newAdmin();
    const [own, other] = [await make(admin), await make({ browser: owner })];
    const path = `/v1/org/members/${admin.membership}`;
    const refused = (param: string) => ({ status: 400, error: { code: 'validation_failed', param } });
    expect(await owner.send('DELETE', `${path}?keep_keys[]=${other.id}`)).toMatchObject(refused('keep_keys'));
    expect(await owner.send('DELETE', `${path}?keep_keys[]=key_1`)).toMatchObject(refused('keep_keys[]'));
    expect(await owner.send('DELETE', `${path}?keep_keys=${own.id}`)).toMatchObject(refused('keep_keys'));
    const change = (body: object) => owner.send('PATCH', path, body);
    expect(await change({ keep_keys: [own.id] })).toMatchObject(refused('keep_keys'));
    expect(await change({ role: 'viewer', keep_keys: [other.id] })).toMatchObject(refused('keep_keys'));
    expect(await answerTo(own)).toBe(200);
    expect((await owner.get('/v1/org/members?limit=100')).json['data']).toContainEqual(
      expect.objectContaining({ id: admin.membership, role: 'admin', status: 'active' }),
    );
  });
});
