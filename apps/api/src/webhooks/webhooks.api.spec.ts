import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer } from '../../../../test/http/edge-client.js';
import { ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { testId } from '../../../../test/support/given-log.js';
import { httpAnswer, type RawUpstream, startRawUpstream } from '../../../../test/support/raw-upstream.js';
import { ok } from '../../../../test/support/webhook-scene.js';
import { WebhooksModule } from './webhooks.module.js';

type Json = Record<string, unknown>;

let bench: ApiBench;
let receiver: RawUpstream;
let answer = ok;

beforeAll(async () => {
  bench = await ApiBench.start([WebhooksModule]);
  await bench.ownAdminKey();
  await bench.ledger.activateKey();
  receiver = await startRawUpstream((request) => answer(request));
});
afterAll(async () => {
  await receiver.close();
  await bench.close();
});
beforeEach(() => {
  answer = ok;
});
afterEach(async () => {
  for (const { id } of await listed()) await send('DELETE', `/v1/webhooks/${String(id)}`);
});

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const listed = async (): Promise<Json[]> => (await send('GET', '/v1/webhooks?limit=100')).json?.['data'] as Json[];
const asked = (changes: Json = {}) => ({
  url: `http://127.0.0.1:${receiver.port}/hooks`,
  events: ['deed.sealed', 'action.*'],
  ...changes,
});
const create = (changes: Json = {}, headers: Record<string, string> = {}) =>
  send('POST', '/v1/webhooks', asked(changes), headers);
const made = async (changes: Json = {}): Promise<Json> => {
  const { status, json } = await create(changes);
  expect(status).toBe(201);
  return json as Json;
};
const pathOf = ({ id }: Json, rest = ''): string => `/v1/webhooks/${String(id)}${rest}`;

describe('POST /v1/webhooks', () => {
  it('shows the secret once, and the deed that seals it', async () => {
    const { secret, deed, ...shown } = await made({ description: 'Pager' });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
    expect(deed).toMatch(/^deed_/);
    expect(shown).toEqual({
      object: 'webhook',
      id: expect.stringMatching(/^whk_/),
      ...asked({ description: 'Pager' }),
      status: 'active',
      secret_hint: String(secret).slice(-4),
      old_secrets_until: [],
      failing_since: null,
      oldest_pending_at: null,
      created_at: expect.stringMatching(/Z$/),
    });
    expect((await send('GET', pathOf(shown))).json).toEqual(shown);
    expect(JSON.stringify(await listed())).not.toContain(String(secret));
    await bench.seal();
    const { rows } = await bench.pool.query(
      `select 1 from event_store.events where stream = 'ledger-' || $1 and data like '%webhook.created%'`,
      [ORG],
    );
    expect(rows.length).toBeGreaterThan(0);
  });

  it('stores no secret outside of the vault, and replays none', async () => {
    const headers = { 'Idempotency-Key': 'make it' };
    const first = await create({}, headers);
    const again = await create({}, headers);
    expect([again.status, again.json]).toEqual([201, { ...first.json, secret: null }]);
    expect(await listed()).toHaveLength(1);
    const secret = String(first.json?.['secret']);
    const found = await bench.pool.query(
      `select 'event' as place from event_store.events where data like $1 or metadata like $1
       union all select 'answer' from idempotency.request r where r::text like $1
       union all select 'vault' from vault_secrets v where position(convert_to(substr($1, 2, 20), 'UTF8') in v.sealed) > 0`,
      [`%${secret.slice(0, 30)}%`],
    );
    expect(found.rows).toEqual([]);
  });

  it('refuses a seventeenth, also where thirty-two are asked for at once', async () => {
    const answers = await Promise.all(Array.from({ length: 32 }, () => create()));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(16);
    for (const { status, error } of answers.filter(({ status }) => status !== 201)) {
      expect([status, error['code']]).toEqual([409, 'conflict']);
    }
    expect(await listed()).toHaveLength(16);
    const secrets = await bench.pool.query(`select from vault_secrets where stream like 'webhooks-%'`);
    expect(secrets.rowCount).toBe(16);
  });

  it.each([
    [{ url: 'https://user:secret@example.com' }, 'validation_failed', 'url'],
    [{ url: 5 }, 'validation_failed', 'url'],
    [{ url: 'http://169.254.169.254/latest' }, 'destination_blocked', 'url'],
    [{ events: [] }, 'validation_failed', 'events'],
    [{ events: 'deed.sealed' }, 'validation_failed', 'events'],
    [{ events: [5] }, 'validation_failed', 'events'],
    [{ events: ['deed.sealed', 'deed.*', 'deed'] }, 'validation_failed', 'events[2]'],
    [{ description: 'x'.repeat(1_025) }, 'validation_failed', 'description'],
    [{ secret: 'mine' }, 'validation_failed', 'secret'],
  ])('refuses %j with %s, and makes nothing', async (changes, code, param) => {
    const { status, error } = await create(changes);
    expect([status, error['code'], error['param']]).toEqual([400, code, param]);
    expect(await listed()).toEqual([]);
  });
});

describe('PATCH /v1/webhooks/{id}', () => {
  it('changes what is sent, seals it once, and answers a repeated change with no deed', async () => {
    const webhook = await made();
    const changes = { events: ['*'], description: 'CRM', status: 'disabled' };
    const { json } = await send('PATCH', pathOf(webhook), changes);
    expect(json).toMatchObject({ ...changes, deed: expect.stringMatching(/^deed_/) });
    expect((await send('PATCH', pathOf(webhook), changes)).json).toMatchObject({ ...changes, deed: null });
    expect((await send('PATCH', pathOf(webhook), { description: null })).json).toMatchObject({ description: null });
  });

  it('refuses a URL inside a network', async () => {
    const webhook = await made();
    const { status, error } = await send('PATCH', pathOf(webhook), { url: 'http://169.254.169.254' });
    expect([status, error['code'], error['param']]).toEqual([400, 'destination_blocked', 'url']);
  });
});

describe('POST /v1/webhooks/{id}/roll', () => {
  it('shows the new secret once, and until when the one before it signs', async () => {
    const webhook = await made();
    const { status, json } = await send('POST', pathOf(webhook, '/roll'), { overlap_seconds: 3_600 });
    expect(status).toBe(200);
    expect(json?.['secret']).toMatch(/^whsec_/);
    expect(json?.['secret']).not.toBe(webhook['secret']);
    const [until] = json?.['old_secrets_until'] as string[];
    expect(Math.abs(Date.parse(String(until)) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect((await send('GET', pathOf(webhook))).json).toMatchObject({
      secret_hint: String(json?.['secret']).slice(-4),
    });
    expect((await send('POST', pathOf(webhook, '/roll'), { overlap_seconds: 0 })).json).toMatchObject({
      old_secrets_until: [],
    });
  });
});

describe('POST /v1/webhooks/{id}/test and its deliveries', () => {
  it('tells what the receiver said, and lists it', async () => {
    const webhook = await made();
    const first = await send('POST', pathOf(webhook, '/test'));
    expect(first).toMatchObject({
      status: 200,
      json: { object: 'webhook_delivery', type: 'webhook.test', status: 'delivered', attempt: 1, http_status: 204 },
    });
    answer = () => httpAnswer(500, '', { Connection: 'close' });
    const second = await send('POST', pathOf(webhook, '/test'));
    expect(second.json).toMatchObject({ status: 'dead', http_status: 500, error_code: 'upstream_error' });
    const page = async (query: string) => (await send('GET', pathOf(webhook, `/deliveries?${query}`))).json as Json;
    const { data, next_cursor: cursor } = await page('limit=1');
    const rest = await page(`limit=1&cursor=${String(cursor)}`);
    const found = [...(data as Json[]), ...(rest['data'] as Json[])];
    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining([first.json, second.json]));
    expect(rest['has_more']).toBe(false);
    expect(found[0]).toMatchObject({ about: { object: 'webhook', id: webhook['id'] } });
    expect((await page('status=dead,retrying'))['data']).toEqual([second.json]);
    expect((await page('status=pending'))['data']).toEqual([]);
  });

  it('sends again what the endpoint has a delivery of', async () => {
    const webhook = await made();
    const { json } = await send('POST', pathOf(webhook, '/test'));
    const event = json?.['event'];
    expect((await send('POST', pathOf(webhook, '/redeliver'), { event })).json).toMatchObject({
      event,
      status: 'pending',
      attempt: 0,
    });
    const unknown = await send('POST', pathOf(webhook, '/redeliver'), { event: testId('evt', 1) });
    expect([unknown.status, unknown.error['param']]).toEqual([404, 'event']);
    await send('PATCH', pathOf(webhook), { status: 'disabled' });
    expect((await send('POST', pathOf(webhook, '/redeliver'), { event })).status).toBe(409);
  });

  it('refuses an eleventh test in a minute', async () => {
    const webhook = await made();
    for (let count = 0; count < 10; count += 1) await send('POST', pathOf(webhook, '/test'));
    const { status, error, headers } = await send('POST', pathOf(webhook, '/test'));
    expect([status, error['code'], headers.get('retry-after')]).toEqual([429, 'rate_limited', expect.any(String)]);
  });
});

describe('an endpoint that is gone', () => {
  it('is found by no route, and its secrets are destroyed', async () => {
    const webhook = await made();
    expect((await send('DELETE', pathOf(webhook))).json).toEqual({
      object: 'webhook',
      id: webhook['id'],
      deleted: true,
      deed: expect.stringMatching(/^deed_/),
    });
    const routes = [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/deliveries'],
      ['POST', '/test'],
    ] as const;
    for (const [method, rest] of routes) expect((await send(method, pathOf(webhook, rest))).status).toBe(404);
    expect((await send('PATCH', pathOf(webhook), { status: 'active' })).status).toBe(404);
    expect((await send('POST', pathOf(webhook, '/roll'), {})).status).toBe(404);
    const secrets = await bench.pool.query(`select from vault_secrets where object = $1`, [webhook['id']]);
    expect(secrets.rowCount).toBe(0);
  });
});
