import { mkdtempSync, rmSync, mkdirSync, writeFileSync } from 'node:fs';
import { request as askRaw } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '#libs/domain/kernel';
import { clientOf } from '../../../../test/http/edge-client.js';
import { ORG, startEdge, type TestEdge } from '../../../../test/http/edge-harness.js';
import { errorOf, sendRaw } from '../../../../test/http/raw-http.js';
import type { PersonPrincipal } from '../http/authenticator.port.js';
import { codingFor, readConsoleFiles } from './console-files.js';
import { CONSOLE_FILES, ConsoleController, SHOWS_KIT } from './console.controller.js';

/** Word by word, since a slip in one would open what the others close (rule CONSOLE-2). */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; manifest-src 'self'; " +
    "form-action 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; object-src 'none'; " +
    "require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const ACT = 'act_01h2xcejqtf2nbrexx3vqjhp46';
const SCRIPT = 'console.log("the Console");'.repeat(40);
const PAGE = '<!doctype html><title>The Console</title>';

let edge: TestEdge;
let folder: string;
const { send, get } = clientOf(() => edge);

const cookie = (token = 'good') => ({ Cookie: `service_session=${token}` });

/** Without following a redirect. */
const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${edge.url}${path}`, { method, headers, redirect: 'manual' });

/** The bytes as they are on the wire: `fetch` would decompress them. */
const askBytes = (path: string, headers: Record<string, string> = {}): Promise<{ encoding: string; bytes: Buffer }> =>
  new Promise((resolve, reject) => {
    askRaw(`${edge.url}${path}`, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ encoding: response.headers['content-encoding'] ?? '', bytes: Buffer.concat(chunks) }),
      );
    })
      .on('error', reject)
      .end();
  });

const startWith = (showsKit: boolean): Promise<TestEdge> =>
  startEdge({
    controllers: [ConsoleController],
    providers: [
      { provide: CONSOLE_FILES, useValue: readConsoleFiles(folder) },
      { provide: SHOWS_KIT, useValue: showsKit },
    ],
  });

const signIn = ({ sessions }: TestEdge): void =>
  void sessions.sessions.set('good', {
    kind: 'person',
    org: ORG,
    role: 'viewer',
    pinnedVersion: null,
  } as PersonPrincipal);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ags-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'kit.html'), `${PAGE}kit`);
  for (const name of ['index-abc.js', 'index-abc.css']) {
    writeFileSync(join(folder, 'assets', name), SCRIPT);
    writeFileSync(join(folder, 'assets', `${name}.br`), brotliCompressSync(SCRIPT));
    writeFileSync(join(folder, 'assets', `${name}.gz`), gzipSync(SCRIPT));
  }
  edge = await startWith(true);
  signIn(edge);
});
afterAll(async () => {
  await edge?.close();
  rmSync(folder, { recursive: true, force: true });
});

const PAGES = [
  '/app',
  '/app?window=7d',
  '/app/actions',
  '/app/actions?q=a%20b',
  `/app/actions/${ACT}`,
  '/app/approvals',
  '/app/agents',
  '/app/connectors',
  `/app/connectors/${ACT.replace('act_', 'con_')}`,
  '/app/insights',
  '/app/deeds',
  '/app/settings',
  '/app/settings/admin-keys',
  `/app/settings/whk_01h2xcejqtf2nbrexx3vqjhp47`,
];

describe('the root', () => {
  it('leads to the Console', async () => {
    const answer = await ask('/');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/app']);
    expect(Object.fromEntries(answer.headers)).toMatchObject(HEADERS);
  });
});

describe('a page of the Console', () => {
  it.each(PAGES)('%s is shown to who is signed in', async (path) => {
    const { status, headers, text } = await get(path, cookie());
    expect([status, text, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      PAGE,
      'text/html; charset=utf-8',
      'no-cache',
    ]);
    expect(Object.fromEntries(headers)).toMatchObject(HEADERS);
    expect((await send('HEAD', path, { headers: cookie() })).status).toBe(200);
  });

  it.each([{}, cookie('over'), { Cookie: 'service_session=' }])('sends %j to sign in, and back', async (headers) => {
    for (const path of PAGES) {
      const answer = await ask(path, headers);
      expect([answer.status, await answer.text(), answer.headers.get('location')]).toEqual([
        302,
        '',
        `/login?next=${encodeURIComponent(path)}`,
      ]);
      expect(Object.fromEntries(answer.headers)).toMatchObject({ ...HEADERS, 'cache-control': 'no-store' });
      expect(answer.headers.has('www-authenticate')).toBe(false);
    }
  });

  it.each([
    '/app?next=//evil.example',
    '/app/actions?q=..',
    '/app?q=%2e%2e',
    '/app/actions?q=%5c',
    `/app?q=${'a'.repeat(2_048)}`,
  ])('drops what could lead elsewhere: %s', async (path) => {
    const answer = await ask(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/login']);
  });

  it('is not sent again to who has it', async () => {
    const etag = (await get('/app', cookie())).headers.get('etag') as string;
    expect(etag).toMatch(/^"sha256:[0-9a-f]{64}"$/);
    const again = await get('/app/agents', { ...cookie(), 'If-None-Match': `W/${etag}` });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    expect(Object.fromEntries(again.headers)).toMatchObject({ ...HEADERS, 'cache-control': 'no-cache' });
    expect((await ask('/app', { 'If-None-Match': etag })).status).toBe(302);
  });

  it('says as a page what went wrong', async () => {
    const authenticate = edge.sessions.authenticate.bind(edge.sessions);
    edge.sessions.authenticate = () => Promise.reject(new StoreUnavailable('<away>'));
    const { status, headers, text } = await get('/app/agents', cookie());
    edge.sessions.authenticate = authenticate;
    expect([status, headers.get('content-type'), headers.get('retry-after'), headers.get('refresh')]).toEqual([
      503,
      'text/html; charset=utf-8',
      '1',
      '5',
    ]);
    expect(text).toContain('tries again by itself');
    expect(Object.fromEntries(headers)).toMatchObject(HEADERS);
    expect(text).toContain('<code>service_unavailable</code>');
    expect(text).toContain(headers.get('service-request-id'));
    expect(text).not.toContain('away');
  });

  it('is for people: a key is refused as a page', async () => {
    const { status, headers } = await get('/app', { Authorization: 'Bearer agent' });
    expect([status, headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
  });

  it('takes no other method', async () => {
    const answer = await ask('/app/actions', cookie(), 'DELETE');
    expect([answer.status, answer.headers.get('allow'), answer.headers.get('content-type')]).toEqual([
      405,
      'GET, HEAD',
      'text/html; charset=utf-8',
    ]);
  });
});

describe('what is not there below /app', () => {
  const NOWHERE = [
    ...['/app/', '/app//', '/app//x', '/app/nothing', '/app/Actions', '/app/actions/', '/app/actions/x', '/app/x/y/z'],
    ...[
      `/app/agents/${ACT}`,
      '/app/actions/act_1',
      `/app/actions/${ACT}/x`,
      `/app/insights/${ACT}`,
      '/app/settings/nothing',
      '/app/constructor',
    ],
    ...['/app/__proto__', '/app/..%2fapp', '/app/%zz', '/app/%ff', '/app/%3Cscript%3E', `/app/_kit/${ACT}`],
    ...['/app/assets/nothing.js', '/app/assets/..%2findex.html', '/app/assets/index-abc.js.br', '/app/assets/'],
  ];

  it('has one page of constant bytes, and nobody is asked for', async () => {
    const asked = edge.sessions.authenticate.bind(edge.sessions);
    edge.sessions.authenticate = () => Promise.reject(new Error('asked'));
    const [first, ...others] = await Promise.all(
      NOWHERE.flatMap((path) => [ask(path), ask(path, cookie())]).map(async (answer) => {
        const { status, headers } = await answer;
        expect(Object.fromEntries(headers)).toMatchObject(HEADERS);
        return [status, headers.get('content-type'), await (await answer).text()];
      }),
    );
    edge.sessions.authenticate = asked;
    expect(first?.slice(0, 2)).toEqual([404, 'text/html; charset=utf-8']);
    expect(first?.[2]).toContain('There is no such page');
    for (const other of others) expect(other).toEqual(first);
  });

  it('says so on the raw wire, too', async () => {
    const answer = await sendRaw(edge.port, 'GET /app/../v1/me HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(answer.status).toBe(404);
  });

  it('is not of the Console where only the name begins so', async () => {
    for (const path of ['/apps', '/application', '/ap'])
      expect((await get(path)).error['code'], path).toBe('not_found');
    const raw = await sendRaw(edge.port, 'GET /apps HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(errorOf(raw)['code']).toBe('not_found');
  });
});

describe('an asset', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['identity', ''],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
  ])('is sent to who takes %s as %j, and kept for a year', async (accepted, coding) => {
    const { encoding, bytes } = await askBytes('/app/assets/index-abc.js', { 'Accept-Encoding': accepted });
    expect(encoding).toBe(coding);
    const plain = coding === 'br' ? brotliDecompressSync(bytes) : coding === 'gzip' ? gunzipSync(bytes) : bytes;
    expect(plain.toString()).toBe(SCRIPT);
    const { headers } = await ask('/app/assets/index-abc.js');
    expect(Object.fromEntries(headers)).toMatchObject({
      ...HEADERS,
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
  });

  it('has its type', async () => {
    expect((await ask('/app/assets/index-abc.css')).headers.get('content-type')).toBe('text/css; charset=utf-8');
  });

  it.each([
    [undefined, null],
    ['', null],
    ['gzip;q=0.5, br;q=0.1', 'br'],
    ['BR', 'br'],
    ['*;q=0', null],
    ['br;q=0, *', 'gzip'],
  ] as const)('is chosen by Accept-Encoding %j: %j', (accepted, coding) => expect(codingFor(accepted)).toBe(coding));

  it('of another kind ends the start, as one that is not compressed does', () => {
    writeFileSync(join(folder, 'assets', 'index-abc.js.map'), '');
    expect(() => readConsoleFiles(folder)).toThrow('is of a kind that the Console does not serve');
    rmSync(join(folder, 'assets', 'index-abc.js.map'));
    writeFileSync(join(folder, 'assets', 'late.js'), '');
    expect(() => readConsoleFiles(folder)).toThrow('ENOENT');
    rmSync(join(folder, 'assets', 'late.js'));
  });
});

describe('the kit', () => {
  it('is shown where the service runs for who develops it, and nowhere else', async () => {
    expect((await get('/app/_kit', cookie())).text).toBe(`${PAGE}kit`);
    const production = await startWith(false);
    signIn(production);
    const answer = await fetch(`${production.url}/app/_kit`, { headers: cookie() });
    const nothing = await fetch(`${production.url}/app/nothing`);
    expect([answer.status, await answer.text()]).toEqual([404, await nothing.text()]);
    await production.close();
  });
});
