import { beforeEach, describe, expect, it } from 'vitest';
import { FAILURE_BURST } from '../../apps/api/src/http/failed-key-limiter.js';
import { bearer, clientOf } from './edge-client.js';
import { startEdge, type TestEdge } from './edge-harness.js';
import { errorOf, sendRaw } from './raw-http.js';
import { SampleController } from './sample.controllers.js';

let edge: TestEdge;
const { get, post, send } = clientOf(() => edge);
const SUBMIT = '{"tool":"crm.get","args":{}}';

beforeEach(async () => {
  edge = await startEdge({ controllers: [SampleController] });
  SampleController.ran = [];
  return () => edge.close();
});

const PROTECTED: [string, string][] = [
  ['POST', '/v1/actions'],
  ['GET', '/v1/actions'],
  ['GET', '/v1/actions/act_1'],
  ['GET', '/v1/policies'],
  ['DELETE', '/v1/policies/pol_1'],
  ['GET', '/v1/people'],
];

describe('a route that is not public', () => {
  it.each(PROTECTED)('answers %s %s without credentials with 401 and the bare challenge', async (method, path) => {
    const { status, headers, error } = await send(method, path);
    expect([status, error['code'], error['type'], error['param']]).toEqual([
      401,
      'authentication_required',
      'authentication_error',
      null,
    ]);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="service"');
  });

  it.each([
    ...[
      'Basic YTpi',
      'Token agent',
      'Digest agent',
      'agent',
      'Bearer',
      'Bearer agent agent',
      'Bearer agent,reader',
      'Bearer nobody',
    ],
    ...['Bearer "agent"', 'bearer=agent', `Bearer ${'a'.repeat(10_000)}`],
  ])('answers Authorization: %s with 401 invalid_api_key', async (authorization) => {
    const { status, headers, error } = await get('/v1/actions', { Authorization: authorization });
    expect([status, error['code'], error['type']]).toEqual([401, 'invalid_api_key', 'authentication_error']);
    expect(headers.get('www-authenticate')).toBe(
      'Bearer realm="service", error="invalid_token", error_description="The API key is not valid"',
    );
  });

  it('refuses two Authorization headers, of which Node would keep one', async () => {
    for (const second of ['Bearer agent', 'Bearer nobody', '']) {
      const answer = await sendRaw(
        edge.port,
        `GET /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\nauthorization: ${second}\r\n\r\n`,
      );
      expect([answer.status, errorOf(answer)['code']]).toEqual([401, 'invalid_api_key']);
    }
    expect(edge.authenticator.asked).toEqual([]);
  });

  it('finds no key in the query or the body, and logs neither', async () => {
    const canary = `svc_live_abcdefgh_${'z'.repeat(32)}`;
    const inQuery = await get(`/v1/actions?api_key=${canary}&access_token=${canary}`);
    const inBody = await post('/v1/actions', JSON.stringify({ api_key: canary }));
    expect([inQuery.status, inBody.status]).toEqual([401, 401]);
    await get('/v1/health');
    expect(JSON.stringify(edge.lines)).not.toContain('z'.repeat(32));
  });

  it.each([
    ['revoked', 'api_key_revoked', 'The API key was revoked'],
    ['expired', 'api_key_expired', 'The API key was rolled and its overlap has ended'],
  ])('answers a key that is %s with 401 %s', async (key, code, description) => {
    const { status, headers, error } = await get('/v1/actions', bearer(key));
    expect([status, error['code']]).toEqual([401, code]);
    expect(headers.get('www-authenticate')).toBe(
      `Bearer realm="service", error="invalid_token", error_description="${description}"`,
    );
  });

  it('is closed, not open, while keys cannot be judged', async () => {
    const { status, headers, error } = await get('/v1/actions', bearer('unjudged'));
    expect([status, error['code'], headers.get('retry-after')]).toEqual([503, 'service_unavailable', '1']);
  });

  it('refuses a stopped agent, except where the attempt is recorded first', async () => {
    const { status, error } = await get('/v1/actions', bearer('stopped'));
    expect([status, error['code'], error['type']]).toEqual([403, 'agent_stopped', 'permission_error']);
    expect((await post('/v1/actions', SUBMIT, bearer('stopped'))).status).toBe(200);
  });
});

describe('scopes', () => {
  const insufficient = (scope: string) =>
    `Bearer realm="service", error="insufficient_scope", error_description="The key lacks a scope", scope="${scope}"`;

  it.each([
    ['POST', '/v1/actions', 'reader', 'actions:execute', 'the scope actions:execute, which this key lacks'],
    ['POST', '/v1/actions', 'admin', 'actions:execute', 'the key of an agent, with the scope actions:execute'],
    ['GET', '/v1/policies', 'agent', 'admin', 'the scope admin, which no agent’s key has'],
    ['DELETE', '/v1/policies/pol_1', 'agent', 'admin', 'the scope admin, which no agent’s key has'],
  ])('%s %s answers the key %s with 403 and the scope %s, in words too', async (method, path, key, scope, words) => {
    const { status, headers, error } = await send(method, path, { headers: bearer(key) });
    expect([status, error['code'], error['type'], error['param']]).toEqual([
      403,
      'insufficient_scope',
      'permission_error',
      null,
    ]);
    expect(headers.get('www-authenticate')).toBe(insufficient(scope));
    expect(error['message']).toContain(`This endpoint needs ${words}`);
    expect(SampleController.ran).toEqual([]);
  });

  it.each([
    ['GET', '/v1/actions', 'reader'],
    ['GET', '/v1/actions', 'admin'],
    ['GET', '/v1/policies', 'admin'],
    ['GET', '/v1/things', 'reader'],
  ])('%s %s takes the key %s', async (method, path, key) => {
    expect((await send(method, path, { headers: bearer(key) })).status).toBe(200);
  });
});

describe('references', () => {
  it('reach the handler', async () => {
    const { json } = await post('/v1/actions', SUBMIT, {
      ...bearer('agent'),
      'Service-On-Behalf-Of': 'user:42@crm',
      'Service-Session': 's_1',
    });
    expect(json).toMatchObject({ on_behalf_of: 'user:42@crm', session: 's_1' });
  });

  it.each(['Service-On-Behalf-Of', 'Service-Session'])(
    '%s is refused with 422 when malformed or repeated',
    async (header) => {
      const request = (lines: string) =>
        `GET /v1/policies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n${lines}\r\n`;
      for (const lines of [`${header}: a b\r\n`, `${header}:\r\n`, `${header}: a\r\n${header.toLowerCase()}: a\r\n`]) {
        const answer = await sendRaw(edge.port, request(lines));
        expect([answer.status, errorOf(answer)['code'], errorOf(answer)['param']]).toEqual([
          422,
          'validation_failed',
          header,
        ]);
      }
    },
  );

  it('are not read on a public route', async () => {
    expect((await get('/v1/health', { 'Service-Session': 'a b' })).status).toBe(200);
  });
});

describe('the version', () => {
  it('is refused with 400 when it is not served, and the answer carries the latest', async () => {
    for (const version of ['2026-10-02', '2026-9-1', 'x']) {
      const { status, headers, error } = await get('/v1/health', { 'Service-Version': version });
      expect([status, error['code'], error['param']]).toEqual([400, 'api_version_invalid', 'Service-Version']);
      expect(headers.get('service-version')).toBe('2026-10-01');
    }
  });

  it('is refused when it was sent twice', async () => {
    const answer = await sendRaw(
      edge.port,
      'GET /v1/health HTTP/1.1\r\nHost: x\r\nService-Version: 2026-10-01\r\nService-Version: 2026-10-01\r\n\r\n',
    );
    expect([answer.status, errorOf(answer)['code']]).toEqual([400, 'api_version_invalid']);
  });

  it('is not judged on an unversioned route', async () => {
    expect((await get('/v1/unversioned', { 'Service-Version': 'x' })).status).toBe(200);
  });
});

describe('the order of the checks', () => {
  // Each request has every fault from its own on; the answer names the first (rule API-6).
  const faults = {
    path: { path: '/v1/nothing' },
    type: { headers: { 'Content-Type': 'text/plain' } },
    size: { body: 'x'.repeat(1_048_577) },
    key: { headers: { Authorization: 'Bearer nobody' } },
    scope: { headers: { Authorization: 'Bearer reader' } },
    reference: { headers: { 'Service-Session': 'a b' } },
    version: { headers: { 'Service-Version': 'x' } },
    idempotency: { headers: { 'Idempotency-Key': 'é' } },
    json: { body: '{' },
    shape: { body: '{}' },
  };
  const expected: Record<keyof typeof faults, [number, string]> = {
    path: [404, 'not_found'],
    type: [415, 'unsupported_media_type'],
    size: [413, 'request_too_large'],
    key: [401, 'invalid_api_key'],
    scope: [403, 'insufficient_scope'],
    reference: [422, 'validation_failed'],
    version: [400, 'api_version_invalid'],
    idempotency: [400, 'idempotency_key_invalid'],
    json: [400, 'invalid_json'],
    shape: [400, 'validation_failed'],
  };
  const names = Object.keys(faults) as (keyof typeof faults)[];

  it.each(names)('judges %s before everything after it', async (name) => {
    const present = names.slice(names.indexOf(name)).toReversed();
    const merged = {
      path: '/v1/actions',
      body: SUBMIT,
      headers: { 'Content-Type': 'application/json', ...bearer('agent') } as Record<string, string>,
    };
    for (const fault of present.map((each) => faults[each] as Partial<typeof merged>)) {
      Object.assign(merged, { path: fault.path ?? merged.path, body: fault.body ?? merged.body });
      Object.assign(merged.headers, fault.headers);
    }
    const { status, error } = await send('POST', merged.path, { headers: merged.headers, body: merged.body });
    expect([status, error['code']]).toEqual(expected[name]);
    expect(SampleController.ran).toEqual([]);
  });
});

describe('a flood of keys that are not valid', () => {
  it('is answered with 429 and Retry-After, while keys that worked are served', async () => {
    edge.clock.stop();
    expect((await get('/v1/actions', bearer('agent'))).status).toBe(200);
    for (let count = 0; count < FAILURE_BURST; count += 1)
      expect((await get('/v1/actions', bearer(`bad${count}`))).status).toBe(401);
    const { status, headers, error } = await get('/v1/actions', bearer('bad'));
    expect([status, error['code'], error['type']]).toEqual([429, 'rate_limited', 'rate_limit_error']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await get('/v1/actions', bearer('agent'))).status).toBe(200);
    expect((await get('/v1/actions')).status).toBe(401);
  });

  it('does not spill over to other clients behind a trusted proxy, nor can a client choose its address', async () => {
    const proxied = await startEdge({ controllers: [SampleController], edge: { trustedProxies: ['127.0.0.1'] } });
    const client = clientOf(() => proxied);
    edge.clock.stop();
    proxied.clock.stop();
    const from = (forwarded: string) => client.get('/v1/actions', { ...bearer('bad'), 'X-Forwarded-For': forwarded });
    for (let count = 0; count < FAILURE_BURST; count += 1) await from(`203.0.113.${count}, 198.51.100.1`);
    expect((await from('198.51.100.1')).status).toBe(429);
    expect((await from('203.0.113.9, 198.51.100.1')).status).toBe(429);
    expect((await from('198.51.100.2')).status).toBe(401);
    await proxied.close();
    for (let count = 0; count <= FAILURE_BURST; count += 1) {
      await get('/v1/actions', { ...bearer('bad'), 'X-Forwarded-For': `203.0.113.${count}` });
    }
    expect((await get('/v1/actions', { ...bearer('bad'), 'X-Forwarded-For': '203.0.113.200' })).status).toBe(429);
  });
});
