import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PeopleBench } from '../support/people-bench.js';

let bench: PeopleBench;
let client: pg.Client;

beforeAll(async () => {
  bench = await PeopleBench.start();
  client = new pg.Client({ connectionString: bench.connectionString });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await bench?.close();
});

const ENDED = { status: 401, error: { code: 'session_expired' } };

describe('the rows of sessions', () => {
  it('do not answer: people are told 503, and keys go on', async () => {
    const browser = await bench.ownerBrowser();
    await client.query('begin');
    await client.query('lock table people.sessions in access exclusive mode');
    const [person, key] = await Promise.all([browser.get('/v1/me'), bench.browser().get('/v1/org', bench.adminKey)]);
    await client.query('rollback');
    expect(person).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    expect(person.headers.get('retry-after')).toBe('1');
    expect(key.status).toBe(200);
    expect((await browser.get('/v1/me')).status).toBe(200);
  });

  it('are lost: everybody signs in again', async () => {
    const browser = await bench.ownerBrowser();
    await client.query('delete from people.sessions');
    expect(await browser.get('/v1/me')).toMatchObject(ENDED);
    expect((await (await bench.ownerBrowser()).get('/v1/me')).status).toBe(200);
  });

  it('come back from a backup: what was ended since stays ended (rule PEOPLE-8)', async () => {
    const [out, kept] = [await bench.ownerBrowser(), await bench.ownerBrowser()];
    const jar = out.jar;
    await client.query('create table public.backup as select * from people.sessions');
    expect((await out.post('/v1/auth/logout')).status).toBe(204);
    await client.query('insert into people.sessions select * from public.backup on conflict do nothing');
    expect(await bench.browser().get('/v1/me', { Cookie: jar })).toMatchObject(ENDED);
    expect((await kept.get('/v1/me')).status).toBe(200);
  });

  it('are put there by somebody: without an event they open nothing', async () => {
    const browser = await bench.ownerBrowser();
    await client.query(`update people.sessions set session = 'ses_00000000000000000000000001'
                         where last_seen_ms = (select max(last_seen_ms) from people.sessions)`);
    expect(await browser.get('/v1/me')).toMatchObject(ENDED);
  });
});
