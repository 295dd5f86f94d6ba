import { Controller, Get } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { bearer, clientOf } from './edge-client.js';
import { startEdge, type TestEdge } from './edge-harness.js';
import { errorOf, sendRaw } from './raw-http.js';
import { SampleController } from './sample.controllers.js';

let edge: TestEdge;
const { get, send } = clientOf(() => edge);

beforeAll(async () => {
  edge = await startEdge({ controllers: [SampleController] });
});
afterAll(async () => edge.close());
beforeEach(() => {
  SampleController.ran = [];
  edge.authenticator.asked.length = 0;
});

describe('unknown paths', () => {
  it('answer 404 not_found in the whole envelope', async () => {
    const { status, headers, json } = await get('/nothing/here');
    expect(status).toBe(404);
    expect(json).toEqual({
      error: {
        type: 'invalid_request_error',
        code: 'not_found',
        message: 'There is no such endpoint. GET /api/openapi.yaml lists all of them.',
        param: null,
        request_id: headers.get('service-request-id'),
        doc_url: 'https://docs.example/ags/errors/not_found',
      },
    });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each([
    ['/v1/action', '/v1/actions'],
    ['/v1/actoins', '/v1/actions'],
    ['/v1/actions/', '/v1/actions'],
    ['/v1//actions', '/v1/actions'],
    ['/V1/actions', '/v1/actions'],
    ['/v1/healthz', '/v1/health'],
  ])('suggest for %s the fixed path within two edits', async (path, meant) => {
    const { status, error } = await get(path, bearer('agent'));
    expect([status, error['code']]).toEqual([404, 'not_found']);
    expect(error['message']).toContain(`Did you mean ${meant}?`);
  });

  it('suggest nothing at three edits', async () => {
    expect((await get('/v1/act')).error['message']).not.toContain('Did you mean');
  });

  it.each(['/v1/%zz', '/v1/actions/%', '/%ff%fe'])('cannot be read as in %s: 404 in the envelope', async (path) => {
    const answer = await sendRaw(edge.port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect([answer.status, errorOf(answer)['code']]).toEqual([404, 'not_found']);
    expect(answer.headers.get('service-version')).toEqual(['2026-10-01']);
  });

  it('do not echo what was sent', async () => {
    expect((await get('/v1/<script>alert(1)</script>')).text).not.toContain('script');
  });
});

describe('wrong methods', () => {
  it.each([
    ['DELETE', '/v1/actions', 'GET, HEAD, POST'],
    ['PUT', '/v1/actions/act_1', 'GET, HEAD'],
    ['PATCH', '/v1/health', 'GET, HEAD'],
    ['OPTIONS', '/v1/actions', 'GET, HEAD, POST'],
    ['GET', '/v1/login', 'POST'],
    ['HEAD', '/v1/login', 'POST'],
    ['POST', '/v1/actions/act_1', 'GET, HEAD'],
  ])('%s %s answers 405 with Allow: %s', async (method, path, allow) => {
    const answer = await sendRaw(edge.port, `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, [allow]]);
    if (method !== 'HEAD') expect(errorOf(answer)).toMatchObject({ code: 'method_not_allowed', param: null });
  });

  it('are not overridden by a header or a parameter', async () => {
    const { status } = await send('POST', '/v1/policies/pol_1?_method=DELETE', {
      headers: { 'X-HTTP-Method-Override': 'DELETE', ...bearer('admin') },
    });
    expect(status).toBe(405);
  });

  it('come before the content type and the key', async () => {
    const { status } = await send('PUT', '/v1/actions', { body: '<x/>', headers: { 'Content-Type': 'text/xml' } });
    expect(status).toBe(405);
    expect(edge.authenticator.asked).toEqual([]);
  });
});

describe('a protected route', () => {
  const forms = [
    ...[
      '/v1/actions/',
      '/v1//actions',
      '//v1/actions',
      '/v1/./actions',
      '/v1/x/../actions',
      '/v1/actions;x',
      '/v1/Actions',
    ],
    ...[
      '/v1/%61ctions',
      '/v1/actions%2f',
      '/v1%2factions',
      '/v1/actions%3b',
      '/v1/actions%20',
      '/v1/actions?x=1',
      '/v1/actions%00',
    ],
    ...[
      'http://x/v1/actions',
      'https://x/v1/actions',
      'http://x//v1/actions',
      'http://x',
      '*',
      '*v1/actions',
      'v1/actions',
    ],
    ...[
      '/v1/actions/act_1',
      '/v1/actions/..',
      '/v1/actions/%2e%2e',
      '/v1/actions/act_1/',
      '/v1/actions//',
      '/v1/policies/%2e',
      '/v1\\actions',
    ],
  ];

  it.each(forms)('is never reached without a key by the form %s', async (target) => {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const answer = await sendRaw(edge.port, `${method} ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect([400, 401, 404, 405]).toContain(answer.status);
    }
    expect(SampleController.ran).toEqual([]);
  });

  it('answers HEAD like GET, without the body', async () => {
    const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\n\r\n`;
    const whole = await sendRaw(edge.port, `GET /v1/actions/act_1 ${head}`);
    const answer = await sendRaw(edge.port, `HEAD /v1/actions/act_1 ${head}`);
    expect([answer.status, answer.body]).toEqual([200, '']);
    expect(answer.headers.get('content-length')).toEqual([String(whole.body.length)]);
    const refused = await sendRaw(edge.port, 'HEAD /v1/actions/act_1 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, ['Bearer realm="service"']]);
  });

  it('takes no empty id', async () => {
    // 404 comes before 415: the path is judged as a path, not as the route it nearly is.
    const headers = { 'Content-Type': 'text/plain', ...bearer('agent') };
    expect((await send('POST', '/v1/actions//cancel', { headers })).status).toBe(404);
  });
});

describe('every answer', () => {
  const requests: [string, string][] = [
    ['an ordinary one', 'GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['HEAD', 'HEAD /v1/health HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['404', 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['405', 'PUT /v1/health HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['415', 'POST /v1/actions HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}'],
    ['401', 'GET /v1/actions HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['500', 'GET /v1/throw/defect HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no HTTP at all', 'EHLO example\r\n\r\n'],
    ['headers too large', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['an unreadable path', 'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n'],
  ];

  it.each(requests)('carries ids, version and security headers: %s', async (_, request) => {
    const { headers, body } = await sendRaw(edge.port, request);
    expect(headers.get('service-request-id')?.[0]).toMatch(/^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(headers.get('service-version')).toEqual(['2026-10-01']);
    expect(headers.get('x-content-type-options')).toEqual(['nosniff']);
    expect(headers.get('referrer-policy')).toEqual(['no-referrer']);
    expect(headers.get('cache-control')).toEqual(['no-store']);
    expect(headers.has('access-control-allow-origin')).toBe(false);
    expect(headers.has('strict-transport-security')).toBe(false);
    if (body.includes('"error"')) expect(errorOf({ body })['request_id']).toBe(headers.get('service-request-id')?.[0]);
  });

  it('has an id of its own, also on one connection', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await get('/v1/health')).headers.get('service-request-id')),
    );
    expect(new Set(ids).size).toBe(20);
  });

  it('carries Strict-Transport-Security where the service is reached by https', async () => {
    const secure = await startEdge({ controllers: [SampleController], edge: { baseUrl: 'https://ags.example' } });
    const { headers } = await clientOf(() => secure).get('/v1/health');
    await secure.close();
    expect(headers.get('strict-transport-security')).toBe('max-age=63072000');
  });
});

describe('start-up', () => {
  it('fails for a route that declares nothing', async () => {
    @Controller('v1')
    class Forgetful {
      @Get('forgotten')
      read() {
        return {};
      }
    }
    await expect(startEdge({ controllers: [Forgetful] })).rejects.toThrow('Forgetful.read has no @Route');
  });

  it('fails for a route that was given to the router behind the back of the declarations', async () => {
    @Controller('v1')
    class Backdoor {
      @Get('fine')
      @Route({ auth: 'public', since: '2026-10-01' })
      read() {
        return {};
      }
    }
    const adding = startEdge({
      controllers: [Backdoor],
      onAdapter: (adapter) => adapter.getInstance().get('/debug', () => ({})),
    });
    await expect(adding).rejects.toThrow('served, but not declared with @Route: GET /debug, HEAD /debug');
  });
});
