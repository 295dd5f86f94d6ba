import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bearer, type JsonAnswer } from '../../../../test/http/edge-client.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import {
  httpAnswer,
  jsonAnswer,
  type RawAnswer,
  type RawUpstream,
  startRawUpstream,
} from '../../../../test/support/raw-upstream.js';
import { ConnectorsModule } from './connectors.module.js';

const TOKEN = 'canary-token-0123456789';

let bench: ApiBench;
let upstream: RawUpstream;
let answer: RawAnswer = () => httpAnswer(200, '', { Connection: 'close' });
let numbers = 0;

beforeAll(async () => {
  bench = await ApiBench.start([ConnectorsModule], {
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    resolve: () => Promise.resolve(['127.0.0.1']),
  });
  upstream = await startRawUpstream((request) => answer(request));
});
afterAll(async () => {
  await upstream?.close();
  await bench?.close();
});
afterEach(() => {
  answer = () => httpAnswer(200, '', { Connection: 'close' });
});

const send = (method: string, path: string, body?: unknown): Promise<JsonAnswer> =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const configOf = (changes: object = {}): object => ({
  base_url: `http://crm.example:${upstream.port}`,
  auth: { kind: 'bearer' },
  allowed_methods: ['GET'],
  allowed_path_prefixes: ['/v1'],
  test: { method: 'GET', path: '/v1/me' },
  tools: [{ name: 'get', method: 'GET', path: '/v1/x' }],
  ...changes,
});
const made = async (config: object = configOf(), isStored = true): Promise<string> => {
  const name = `tested-${(numbers += 1)}`;
  expect((await send('POST', '/v1/connectors', { type: 'rest', name, config })).status).toBe(201);
  if (isStored) await store(name);
  return name;
};
const store = (name: string, token = TOKEN) =>
  send('PUT', `/v1/connectors/${name}/credentials`, { kind: 'bearer', secret: { token } });
const test = (name: string) => send('POST', `/v1/connectors/${name}/test`);
const connector = async (name: string) => (await send('GET', `/v1/connectors/${name}`)).json as Record<string, unknown>;
const healthOf = async (name: string) => (await connector(name))['health'] as Record<string, unknown>;
const checksOf = ({ json }: JsonAnswer): string[] =>
  (json?.['checks'] as { check: string; status: string }[]).map(({ check, status }) => `${check} ${status}`);
const rows = async (): Promise<number> =>
  (await bench.pool.query<{ count: string }>('select count(*) from connectors.health')).rows.map(({ count }) =>
    Number(count),
  )[0] as number;

describe('POST /v1/connectors/{id}/test', () => {
  it('goes through the checklist, keeps the result as health, and writes no event', async () => {
    const name = await made();
    const before = await bench.store.head();
    const answered = await test(name);
    expect(answered.status).toBe(200);
    expect(checksOf(answered)).toEqual([
      'config passed',
      'credentials passed',
      'destination passed',
      'tls skipped',
      'auth passed',
    ]);
    const { id, config_hash } = await connector(name);
    expect(answered.json).toMatchObject({ object: 'connector_test', connector: id, status: 'passing', config_hash });
    expect(await bench.store.head()).toBe(before);
    const tested_at = answered.json?.['tested_at'];
    expect(await healthOf(name)).toEqual({ status: 'passing', reason: null, tested_at, last_test: answered.json });
    const { json } = await send('GET', '/v1/connectors?limit=1');
    expect(json).toMatchObject({ data: [{ name, health: { status: 'passing', last_test: answered.json } }] });
    expect(upstream.requests.at(-1)?.head).toContain(`Authorization: Bearer ${TOKEN}`);
    expect(upstream.requests.at(-1)?.head).not.toMatch(/service-(?!connectors)/i);
  });

  it('finds a connector by its id, and one that is disabled', async () => {
    const name = await made();
    const { id } = await connector(name);
    await send('PATCH', `/v1/connectors/${name}`, { status: 'disabled' });
    expect((await test(String(id))).json).toMatchObject({ connector: id, status: 'passing' });
  });

  it('is not found where there is none', async () => {
    expect((await test('absent')).status).toBe(404);
  });

  it('counts for nothing once the config or the credential is another', async () => {
    const name = await made();
    const tested = (await test(name)).json;
    await send('PATCH', `/v1/connectors/${name}`, { description: 'Another word changes nothing' });
    expect(await healthOf(name)).toMatchObject({ status: 'passing' });
    await send('PATCH', `/v1/connectors/${name}`, { config: configOf({ timeout_ms: 9_000 }) });
    expect(await healthOf(name)).toEqual({ status: 'not_tested', reason: null, tested_at: null, last_test: tested });
    await send('PATCH', `/v1/connectors/${name}`, { config: configOf() });
    expect(await healthOf(name)).toMatchObject({ status: 'passing' });
    await store(name, 'another-token-0123456789');
    expect(await healthOf(name)).toMatchObject({ status: 'not_tested' });
    await send('DELETE', `/v1/connectors/${name}/credentials`);
    expect(await healthOf(name)).toMatchObject({ status: 'not_tested' });
  });

  it('fails with what to do where the upstream refuses, and repeats no word of it', async () => {
    const name = await made();
    answer = () => jsonAnswer(401, { sent: TOKEN }, { Connection: 'close' });
    const { status, json, text } = await test(name);
    expect([status, json?.['status']]).toEqual([200, 'failing']);
    expect((json?.['checks'] as unknown[]).at(-1)).toMatchObject({
      check: 'auth',
      status: 'failed',
      fix: expect.stringMatching(/.+/) as string,
    });
    expect(text).not.toMatch(/canary|sent"/);
    answer = () => httpAnswer(429, '', { Connection: 'close' });
    expect((await test(name)).json).toMatchObject({ status: 'warnings' });
    expect(await healthOf(name)).toMatchObject({ status: 'warnings' });
  });

  it('fails early, and sends nothing, without the credential that the config asks for', async () => {
    const name = await made(configOf(), false);
    const sent = upstream.requests.length;
    expect(checksOf(await test(name))).toEqual([
      'config passed',
      'credentials failed',
      'destination passed',
      'tls skipped',
      'auth skipped',
    ]);
    await store(name);
    await bench.pool.query(`update vault_secrets set sealed = 'moved' where field = 'token' and stream like $1`, [
      `%-${name}`,
    ]);
    expect(checksOf(await test(name))[1]).toBe('credentials failed');
    expect(upstream.requests).toHaveLength(sent);
  });

  it('fails where nobody listens, and where TLS does not come up', async () => {
    const closed = await startRawUpstream(() => null);
    await closed.close();
    const refused = await made(configOf({ base_url: `http://crm.example:${closed.port}` }));
    expect(checksOf(await test(refused)).slice(2)).toEqual(['destination failed', 'tls skipped', 'auth skipped']);
  });

  it('begins ten times in a minute, of twenty at once; the others wait as long as they are told', async () => {
    const name = await made();
    const answers = await Promise.all(Array.from({ length: 20 }, () => test(name)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    for (const { status, error, headers } of answers.filter((each) => each.status !== 200)) {
      expect([status, error['code']]).toEqual([429, 'rate_limited']);
      const seconds = Number(headers.get('retry-after'));
      expect(seconds > 50 && seconds <= 60, String(seconds)).toBe(true);
    }
    expect(await healthOf(name)).toMatchObject({ status: 'passing' });
  });

  it('leaves nothing of a connector that is deleted while it is tested', async () => {
    const name = await made();
    const before = await rows();
    const asked = held();
    const answered = test(name);
    await asked.reached;
    expect(await rows()).toBe(before + 1);
    expect((await send('DELETE', `/v1/connectors/${name}`)).status).toBe(200);
    asked.release();
    expect((await answered).status).toBe(404);
    expect(await rows()).toBe(before);
  });

  it('speaks of the credential that it tested, also where that is removed or replaced meanwhile', async () => {
    const name = await made();
    const asked = held();
    const answered = test(name);
    await asked.reached;
    await store(name, 'another-token-0123456789');
    asked.release();
    const { status, json } = await answered;
    expect([status, json?.['status']]).toEqual([200, 'passing']);
    expect(await healthOf(name)).toMatchObject({ status: 'not_tested', last_test: json });
  });

  it('goes with its connector', async () => {
    const name = await made();
    await test(name);
    const before = await rows();
    await send('DELETE', `/v1/connectors/${name}`);
    expect(await rows()).toBe(before - 1);
    await made();
  });
});

describe('GET /v1/connectors/{id}/readiness', () => {
  const readiness = (name: string) => send('GET', `/v1/connectors/${name}/readiness`);

  it('makes the checklist and keeps it as health where none was made, and changes no log', async () => {
    const name = await made();
    const before = await bench.store.head();
    const { status, json } = await readiness(name);
    expect([status, json?.['object'], json?.['status']]).toEqual([200, 'connector_test', 'passing']);
    expect(await bench.store.head()).toBe(before);
    expect(await healthOf(name)).toMatchObject({ status: 'passing', last_test: json });
  });

  it('answers the checklist of a moment ago again, and asks nobody', async () => {
    const name = await made();
    const tested = (await test(name)).json;
    const sent = upstream.requests.length;
    for (let count = 0; count < 20; count += 1) expect((await readiness(name)).json).toEqual(tested);
    expect(upstream.requests).toHaveLength(sent);
  });

  it('makes it anew where it is of an earlier time, config or credential', async () => {
    const name = await made();
    const tested = (await test(name)).json;
    await store(name, 'another-token-0123456789');
    const again = (await readiness(name)).json;
    expect(again?.['credential_version']).not.toBe(tested?.['credential_version']);
    await send('PATCH', `/v1/connectors/${name}`, { config: configOf({ timeout_ms: 9_000 }) });
    expect((await readiness(name)).json?.['config_hash']).not.toBe(again?.['config_hash']);
    const aged = `update connectors.health
        set tested_ms = tested_ms - 60000, test = jsonb_set(test::jsonb, '{testedAt}', '"2020-01-01T00:00:00.000Z"')::text
      where name = $1`;
    await bench.pool.query(aged, [name]);
    expect((await readiness(name)).json?.['tested_at']).not.toMatch(/^2020/);
  });

  it('shares its minute with the tests', async () => {
    const name = await made();
    for (let count = 0; count < 10; count += 1) expect((await test(name)).status).toBe(200);
    await store(name, 'another-token-0123456789');
    const { status, error, headers } = await readiness(name);
    expect([status, error['code']]).toEqual([429, 'rate_limited']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is not found where there is no such connector', async () => {
    expect((await readiness('absent')).status).toBe(404);
  });
});

/** Holds the answer of the upstream until it is released. */
const held = (): { readonly reached: Promise<void>; release(): void } => {
  let release: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    answer = ({ socket }) => {
      release = () => void socket.write(httpAnswer(200, '', { Connection: 'close' }));
      resolve();
      return null;
    };
  });
  return { reached: reached.then(() => turn()), release: () => release() };
};
