import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '#libs/crypto';
import { idOf } from '#libs/domain/kernel';
import type { LiveSession, Role } from '#libs/domain/people';
import type { PersonPrincipal } from '../../apps/api/src/http/authenticator.port.js';
import { isChanging, requireOwnSite } from '../../apps/api/src/http/csrf.js';
import type { Exchange } from '../../apps/api/src/http/exchange.js';
import { RequestContext } from '../../apps/api/src/http/parameters.js';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { clearCookie, setCookie } from '../../apps/api/src/http/session-cookies.js';
import { Site } from '../../apps/api/src/http/site.js';
import { bearer, clientOf } from './edge-client.js';
import { ORG, startEdge, type TestEdge } from './edge-harness.js';
import { RawConnection } from './raw-http.js';

const VECTORS = process.env['VECTORS_DIR'];
const since = '2026-10-01';
const ran: string[] = [];

@Controller()
class DoorsController {
  @Get('me')
  @Route({ auth: 'session', role: 'viewer', since })
  me(@RequestContext() exchange: Exchange) {
    const { person } = exchange;
    return {
      user: person.user,
      role: person.role,
      principal: exchange.principalRef,
      actor: exchange.commandMetadata().actor,
    };
  }

  @Get('read')
  @Route({ auth: 'session_or_key', role: 'viewer', admin: true, since })
  read(@RequestContext() exchange: Exchange) {
    return { kind: exchange.caller.kind };
  }

  @Post('change')
  @Route({ auth: 'session_or_key', role: 'admin', admin: true, since })
  change() {
    ran.push('change');
    return {};
  }

  @Put('change')
  @Route({ auth: 'session_or_key', role: 'admin', admin: true, since })
  put() {
    ran.push('put');
    return {};
  }

  @Patch('change')
  @Route({ auth: 'session_or_key', role: 'admin', admin: true, since })
  patch() {
    ran.push('patch');
    return {};
  }

  @Delete('change')
  @Route({ auth: 'session_or_key', role: 'admin', admin: true, since })
  remove() {
    ran.push('remove');
    return {};
  }

  @Post('own')
  @Route({ auth: 'session_or_key', role: 'owner', admin: true, since })
  own() {
    return {};
  }

  @Post('gate')
  @Route({ auth: 'agent_key', scopes: ['actions:execute'], since })
  gate() {
    return {};
  }

  @Post('sign-in')
  @Route({ auth: 'public', sameOrigin: true, since })
  signIn() {
    ran.push('sign-in');
    return {};
  }
}

const CSRF = 'c'.repeat(43);
const OTHER_CSRF = 'd'.repeat(43);
const USER = idOf('usr', new Uint8Array(16).fill(40));

const person = (role: Role, csrf = CSRF): PersonPrincipal => ({
  kind: 'person',
  org: ORG,
  user: USER,
  role,
  pinnedVersion: null,
  session: { row: { csrfHash: sha256(csrf) } } as LiveSession,
});

let edge: TestEdge;
const { send } = clientOf(() => edge);

beforeAll(async () => {
  edge = await startEdge({ controllers: [DoorsController] });
  edge.edge.isServedAt(edge.url);
  for (const role of ['viewer', 'admin', 'owner'] as const) edge.sessions.sessions.set(role, person(role));
});
afterAll(() => edge.close());

type Headers = Record<string, string>;
const signedIn = (role: string, more: Headers = {}): Headers => ({ Cookie: `service_session=${role}`, ...more });
const proven = (role: string, more: Headers = {}): Headers => ({
  Cookie: `service_session=${role}; service_csrf=${CSRF}`,
  'Service-CSRF': CSRF,
  Origin: edge.url,
  ...more,
});

describe('a session', () => {
  it('is who its person is, in the role of this request', async () => {
    const answer = await send('GET', '/me', { headers: signedIn('viewer') });
    expect(answer.json).toEqual({ user: USER, role: 'viewer', principal: USER, actor: { type: 'user', id: USER } });
  });

  it('is asked for where there is none', async () => {
    for (const path of ['/me', '/read']) {
      const answer = await send('GET', path);
      expect(answer).toMatchObject({ status: 401, error: { code: 'authentication_required' } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="service"');
    }
  });

  it.each([
    ['unknown', 'service_session=nobody'],
    ['empty', 'service_session='],
  ])('that is %s has expired', async (_title, Cookie) => {
    expect(await send('GET', '/me', { headers: { Cookie } })).toMatchObject({
      status: 401,
      error: { code: 'session_expired' },
    });
  });

  it.each([
    ['of the other name', '__Host-service_session=owner'],
    ['sent twice', 'service_session=owner; service_session=owner'],
    ['in other letters', 'Service_Session=owner'],
  ])('cookie %s counts as none', async (_title, Cookie) => {
    expect(await send('GET', '/me', { headers: { Cookie } })).toMatchObject({
      error: { code: 'authentication_required' },
    });
  });

  it('is nothing beside a key: a bad one is not helped, a good one is judged as a key (rule KEY-3)', async () => {
    const both = { ...signedIn('owner'), ...bearer('nobody') };
    expect(await send('GET', '/read', { headers: both })).toMatchObject({ error: { code: 'invalid_api_key' } });
    const good = { ...signedIn('owner'), ...bearer('admin') };
    expect(await send('GET', '/read', { headers: good })).toMatchObject({ json: { kind: 'admin_key' } });
    expect(await send('POST', '/change', { headers: good })).toMatchObject({ status: 201 });
    expect(await send('GET', '/me', { headers: good })).toMatchObject({
      status: 403,
      error: { code: 'insufficient_scope' },
    });
    expect(await send('GET', '/me', { headers: bearer('agent') })).toMatchObject({
      error: { code: 'insufficient_scope' },
    });
    expect(await send('POST', '/gate', { headers: signedIn('owner') })).toMatchObject({
      error: { code: 'authentication_required' },
    });
  });

  it('says which organization its window shows', async () => {
    const own = signedIn('viewer', { 'Service-Org': ORG });
    expect(await send('GET', '/me', { headers: own })).toMatchObject({ status: 200 });
    const other = signedIn('viewer', { 'Service-Org': 'org_00000000000000000000000009' });
    expect(await send('GET', '/me', { headers: other })).toMatchObject({
      status: 409,
      error: { code: 'conflict', param: 'Service-Org' },
    });
  });
});

describe('roles', () => {
  it.each([
    ['viewer', 'POST', '/change', 403],
    ['admin', 'POST', '/change', 201],
    ['owner', 'POST', '/change', 201],
    ['viewer', 'POST', '/own', 403],
    ['admin', 'POST', '/own', 403],
    ['owner', 'POST', '/own', 201],
  ] as const)('a session of %s on %s %s is answered %i', async (role, method, path, status) => {
    const answer = await send(method, path, { headers: proven(role) });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.error['code']).toBe('insufficient_role');
  });

  it('an admin key is an admin, never an owner', async () => {
    expect(await send('POST', '/own', { headers: bearer('admin') })).toMatchObject({
      status: 403,
      error: { code: 'insufficient_role', type: 'permission_error' },
    });
  });

  it('an agent key is refused by scope before by role', async () => {
    expect(await send('POST', '/own', { headers: bearer('agent') })).toMatchObject({
      error: { code: 'insufficient_scope' },
    });
  });
});

describe('what a session changes', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s needs the token of its own session', async (method) => {
    ran.length = 0;
    const cookies = `service_session=owner; service_csrf=${CSRF}`;
    const attempts: Headers[] = [
      { Cookie: cookies },
      { Cookie: cookies, 'Service-CSRF': '' },
      { Cookie: cookies, 'Service-CSRF': OTHER_CSRF },
      // Equal to a cookie that somebody planted, and to no session's hash.
      { Cookie: `service_session=owner; service_csrf=${OTHER_CSRF}`, 'Service-CSRF': OTHER_CSRF },
      { Cookie: 'service_session=owner', 'Service-CSRF': CSRF },
      { Cookie: `${cookies}; service_csrf=${CSRF}`, 'Service-CSRF': CSRF },
    ];
    for (const headers of attempts) {
      expect(await send(method, '/change', { headers }), JSON.stringify(headers)).toMatchObject({
        status: 403,
        error: { code: 'csrf_failed', type: 'permission_error', param: 'Service-CSRF' },
      });
    }
    expect(ran).toEqual([]);
    expect((await send(method, '/change', { headers: proven('owner') })).status).toBeLessThan(300);
    // An old client sends neither header: the token decides (rule PEOPLE-10).
    const plain = { Cookie: cookies, 'Service-CSRF': CSRF };
    expect((await send(method, '/change', { headers: plain })).status).toBeLessThan(300);
  });

  it('twice the header is no header', async () => {
    const head = [
      'POST /change HTTP/1.1',
      `Host: 127.0.0.1:${edge.port}`,
      `Cookie: service_session=owner; service_csrf=${CSRF}`,
    ];
    const connection = await RawConnection.open(edge.port);
    const twice = [`Service-CSRF: ${CSRF}`, `Service-CSRF: ${CSRF}`, 'Content-Length: 0', 'Connection: close', '', ''];
    connection.send([...head, ...twice].join('\r\n'));
    const answer = await connection.untilClosed();
    expect(answer).toContain('csrf_failed');
  });

  it('comes from its own site (rule PEOPLE-10)', async () => {
    const { port } = edge;
    const origins = [
      'null',
      `http://127.0.0.1:${port + 1}`,
      'http://127.0.0.1',
      `https://127.0.0.1:${port}`,
      `http://evil.example:${port}`,
      `http://127.0.0.1.evil.example:${port}`,
      `http://evil-127.0.0.1:${port}`,
      `http://user@127.0.0.1:${port}`,
      `HTTP://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}/`,
      `http://127.0.0.1:${port} http://evil.example`,
    ];
    for (const Origin of origins) {
      expect(await send('POST', '/change', { headers: proven('owner', { Origin }) }), Origin).toMatchObject({
        status: 403,
        error: { code: 'csrf_failed' },
      });
    }
    for (const site of ['cross-site', 'same-site', 'SAME-ORIGIN', '']) {
      const foreign = proven('owner', { 'Sec-Fetch-Site': site });
      expect(await send('POST', '/change', { headers: foreign })).toMatchObject({ error: { code: 'csrf_failed' } });
    }
    for (const site of ['same-origin', 'none']) {
      expect((await send('POST', '/change', { headers: proven('owner', { 'Sec-Fetch-Site': site }) })).status).toBe(
        201,
      );
    }
    // The other names of the same loopback address, in development.
    expect(
      (await send('POST', '/change', { headers: proven('owner', { Origin: `http://localhost:${port}` }) })).status,
    ).toBe(201);
  });

  it('is never judged on what only reads', async () => {
    const headers = signedIn('viewer', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' });
    expect(await send('GET', '/read', { headers })).toMatchObject({ status: 200 });
  });

  it('has its version judged before, its idempotency key after', async () => {
    const wrong = { 'Service-Version': '1999-01-01', 'Idempotency-Key': 'ü' };
    expect(await send('POST', '/change', { headers: signedIn('owner', wrong) })).toMatchObject({
      error: { code: 'api_version_invalid' },
    });
    expect(await send('POST', '/change', { headers: signedIn('owner', { 'Idempotency-Key': '' }) })).toMatchObject({
      error: { code: 'csrf_failed' },
    });
  });
});

describe('an https site', () => {
  it('has cookies that no other host and no plain connection can set, and no aliases', () => {
    const site = new Site('https://ags.example.com');
    expect(setCookie('session', 's', 60, site)).toBe(
      '__Host-service_session=s; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax',
    );
    expect(setCookie('csrf', 'c', 60, site)).toBe('__Host-service_csrf=c; Max-Age=60; Path=/; Secure; SameSite=Strict');
    expect(clearCookie('login', site)).toBe(
      '__Host-service_login=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict',
    );
    expect(site.isOwnOrigin('https://ags.example.com')).toBe(true);
    for (const origin of ['http://ags.example.com', 'https://localhost', 'https://ags.example.com:8443', 'null']) {
      expect(site.isOwnOrigin(origin)).toBe(false);
    }
  });

  const table = VECTORS === undefined ? null : join(VECTORS, 'go-stdlib', 'cross_origin_protection.json');
  it.skipIf(table === null)('is protected as the shared table says (VECTORS_DIR)', () => {
    const { cases } = JSON.parse(readFileSync(table as string, 'utf8')) as { cases: OriginCase[] };
    expect(cases.length).toBeGreaterThan(10);
    const site = new Site('https://example.com');
    for (const { name, method, sec_fetch_site, origin, status } of cases) {
      const sent: Headers = { 'Sec-Fetch-Site': sec_fetch_site, Origin: origin };
      const exchange = { headerValues: (header: string) => [sent[header]].filter(Boolean) } as unknown as Exchange;
      const judged = () => (isChanging(method) ? requireOwnSite(exchange, site) : undefined);
      if (status === 200) expect(judged, name).not.toThrow();
      else expect(judged, name).toThrow(expect.objectContaining({ code: 'csrf_failed' }) as Error);
    }
  });
});

interface OriginCase {
  readonly name: string;
  readonly method: string;
  readonly sec_fetch_site: string;
  readonly origin: string;
  readonly status: number;
}

describe('a public route that signs a browser in', () => {
  it('is its own site’s alone (rule PEOPLE-10)', async () => {
    expect((await send('POST', '/sign-in')).status).toBe(201);
    expect((await send('POST', '/sign-in', { headers: { Origin: edge.url } })).status).toBe(201);
    for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }] as Headers[]) {
      expect(await send('POST', '/sign-in', { headers })).toMatchObject({ error: { code: 'csrf_failed' } });
    }
  });
});
