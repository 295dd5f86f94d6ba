import { CreateOrganization } from '#libs/domain/agents/handlers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { operatorMetadata, type OrgId, streamRef, type UserId } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

let bench: PeopleBench;
let client: pg.Client;
let owner: Browser;

beforeAll(async () => {
  bench = await PeopleBench.start();
  client = new pg.Client({ connectionString: bench.connectionString });
  await client.connect();
  owner = await bench.ownerBrowser();
});
afterAll(async () => {
  await client?.end();
  await bench?.close();
});

const invite = (email: string, by: Browser = owner, role = 'viewer') => by.post('/v1/org/members', { email, role });

/** Another organization, with its owner signed in. */
const elsewhere = async (): Promise<Browser> => {
  const { deployment } = bench;
  const { organization } = await deployment.commands.execute(
    new CreateOrganization('Elsewhere', operatorMetadata(deployment, null)),
  );
  const metadata = operatorMetadata(deployment, organization.org);
  const browser = bench.browser();
  await browser.use(await deployment.persons().issueLink(organization.org, organization.owner, metadata));
  return browser;
};

const membersOf = async (browser: Browser, query = ''): Promise<Record<string, unknown>[]> =>
  (await browser.get(`/v1/org/members${query}`)).json['data'] as Record<string, unknown>[];

/** How much is known: rows of people, and the revision of the organization's stream. */
const known = async () => {
  const { rows } = await client.query<{ n: number }>('select count(*)::int as n from people.people');
  const { revision } = await bench.deployment.streams.load(streamRef(organizationDecider, bench.org));
  return { people: rows[0]?.n, revision };
};

const LIMITED = { status: 429, error: { code: 'rate_limited', type: 'rate_limit_error' } };

describe('invitations', () => {
  it('to one address are five in an hour, whoever makes them, and the sixth leaves no trace', async () => {
    const email = 'wanted@example.com';
    for (let count = 0; count < 5; count += 1) expect((await invite(email)).status).toBeLessThan(300);
    const before = await known();
    const sixth = await invite('Wanted@example.com');
    expect(sixth).toMatchObject(LIMITED);
    expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(3_500);
    expect(await invite(email, await elsewhere())).toMatchObject(LIMITED);
    expect(await known()).toEqual(before);
  });

  it('that are refused leave no row of their person', async () => {
    const admin = await bench.member(owner, 'an.admin@example.com', 'admin');
    const before = await known();
    expect(await invite('never@example.com', admin, 'owner')).toMatchObject({ error: { code: 'insufficient_role' } });
    expect(await known()).toEqual(before);
  });

  it('of one organization are twenty in an hour, also when they come at once', async () => {
    const browser = await elsewhere();
    const statuses: number[] = [];
    // Eight at once: of more, some would find that the organization keeps changing.
    for (let first = 0; first < 24; first += 8) {
      const crowd = Array.from({ length: 8 }, (_, index) => invite(`crowd${first + index}@example.com`, browser));
      statuses.push(...(await Promise.all(crowd)).map(({ status }) => status));
    }
    statuses.sort();
    expect(statuses).toEqual([...Array<number>(20).fill(201), ...Array<number>(4).fill(429)]);
    expect((await invite('unhindered@example.com')).status).toBe(201);
  });
});

describe('the address of a member', () => {
  it('is said as the inviter typed it, and tells nothing of how others spell it', async () => {
    expect((await invite('Some.Body@example.com', await elsewhere())).json).toMatchObject({
      email: 'Some.Body@example.com',
    });
    expect((await invite('some.body@example.com')).json).toMatchObject({ email: 'some.body@example.com' });
    expect(await membersOf(owner, '?status=invited')).toEqual(
      expect.arrayContaining([expect.objectContaining({ email: 'some.body@example.com' })]),
    );
  });

  it('is the one that was invited here until the person joins, and none once the person was removed', async () => {
    const there = await elsewhere();
    const member = await bench.member(there, 'moves@example.com', 'viewer');
    const left = await bench.member(owner, 'moves@example.com', 'viewer');
    const { id } = (await left.get('/v1/me')).json['membership'] as { id: string };
    const removed = await owner.send('DELETE', `/v1/org/members/${id}`);
    expect(removed.json).toMatchObject({ status: 'removed', email: null });
    const { user } = (await invite('Moves@example.com')).json as { user: UserId };
    const { id: org } = (await member.get('/v1/me')).json['org'] as { id: OrgId };
    const { deployment } = bench;
    const address = { normal: 'moved@example.com', spelling: 'moved@example.com' };
    await deployment.persons().setAddress(org, user, address, operatorMetadata(deployment, org));
    const own = (listed: readonly Record<string, unknown>[]) => listed.find((each) => each['user'] === user);
    expect(own(await membersOf(owner))).toMatchObject({ status: 'invited', email: 'Moves@example.com' });
    expect(own(await membersOf(owner, '?status=removed'))).toMatchObject({ id, email: null });
    expect(own(await membersOf(there))).toMatchObject({ status: 'active', email: 'moved@example.com' });
  });
});

describe('another address that was cut off by a crash', () => {
  it('is finished by doing it again: one record, no session, no link', async () => {
    const member = await bench.member(owner, 'before@example.com', 'viewer');
    const { id: user } = (await member.get('/v1/me')).json['user'] as { id: UserId };
    const { deployment } = bench;
    const address = { normal: 'after@example.com', spelling: 'after@example.com' };
    const setAddress = () =>
      deployment.persons().setAddress(bench.org, user, address, operatorMetadata(deployment, bench.org));
    const revision = async () =>
      Number((await deployment.streams.load(streamRef(organizationDecider, bench.org))).revision);
    const before = await revision();
    vi.spyOn(deployment.people.tokens, 'voidAll').mockRejectedValueOnce(new Error('cut off'));
    await expect(setAddress()).rejects.toThrow('cut off');
    expect((await member.get('/v1/me')).status).toBe(200);
    await setAddress();
    expect(await revision()).toBe(before + 1);
    expect(await member.get('/v1/me')).toMatchObject({ error: { code: 'session_expired' } });
    // Done on purpose, and whole, it is another change.
    await setAddress();
    expect(await revision()).toBe(before + 2);
  });
});
