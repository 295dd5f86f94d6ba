import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '#libs/infra/runtime';
import { clientOf } from '../../../../../test/http/edge-client.js';
import { startEdge, type TestEdge } from '../../../../../test/http/edge-harness.js';
import { SignInPagesController } from './sign-in-pages.controller.js';

const FOLDER = join(packageRoot(), 'apps', 'api', 'src', 'pages', 'sign-in', 'files');

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; " +
  "base-uri 'none'; frame-ancestors 'none'";

const PAGES = ['/login', '/auth/confirm', '/auth/approve'];
/** Of each page; the script of approvals loads the other one. */
const scriptOf = (path: string): string => (path === '/auth/approve' ? 'approve.js' : 'auth.js');
const ASSETS: readonly (readonly [name: string, type: string])[] = [
  ['auth.css', 'text/css; charset=utf-8'],
  ['auth.js', 'text/javascript; charset=utf-8'],
  ['approve.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', 'image/svg+xml; charset=utf-8'],
];

let edge: TestEdge;
const { get, send } = clientOf(() => edge);

beforeAll(async () => {
  edge = await startEdge({ controllers: [SignInPagesController] });
});
afterAll(() => edge.close());

describe('a sign-in page', () => {
  it.each(PAGES)('%s is HTML that nobody keeps', async (path) => {
    const { status, headers, text } = await get(path);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(text).toMatch(/^<!doctype html>/i);
    expect(text).toContain('<noscript>');
    expect((await send('HEAD', path)).status).toBe(200);
  });

  it.each([...PAGES, ...ASSETS.map(([name]) => `/auth/assets/${name}`)])(
    '%s may load nothing from elsewhere and stand in no frame',
    async (path) => {
      const { headers } = await get(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy': POLICY,
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    },
  );

  it.each(PAGES)('%s holds no script and no style of its own, and loads what is served', async (path) => {
    const { text } = await get(path);
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]*\ssrc=)/i);
    const loaded = [...text.matchAll(/<(?:link|script|img)\b[^>]*?(?:href|src)="([^"]+)"/g)].map(([, url]) => url);
    expect(new Set(loaded)).toEqual(
      new Set(['auth.css', 'icon.svg', scriptOf(path)].map((name) => `/auth/assets/${name}`)),
    );
    // A form is sent by the script alone; without it, an address would not stand in a URL.
    for (const [form] of text.matchAll(/<form[^>]*>/g)) expect(form).toContain('method="post"');
  });

  it('ends a sign-in in the same way on both: one script fills in what the step shows', async () => {
    const endOf = (text: string) => /<section id="done"[^]*?<\/section>/.exec(text)?.[0];
    const [byCode, byLink] = [(await get('/login')).text, (await get('/auth/confirm')).text];
    expect(endOf(byCode)).toContain('id="who-part"');
    expect(endOf(byLink)).toBe(endOf(byCode));
  });

  it.each(PAGES)('%s is answered in the same way whatever the query says', async (path) => {
    const plain = await get(path);
    expect(await get(`${path}?next=%2Fx%3Cscript%3E&token=abc`)).toMatchObject({ status: 200, text: plain.text });
  });
});

describe('an asset of the sign-in pages', () => {
  it.each(ASSETS)('%s has the type %s', async (name, type) => {
    const { status, headers, text } = await get(`/auth/assets/${name}`);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, 'no-cache']);
    expect(text).toBe(readFileSync(join(FOLDER, name), 'utf8'));
  });

  it('is not sent again to who has it', async () => {
    const etag = (await get('/auth/assets/auth.js')).headers.get('etag') as string;
    expect(etag).toMatch(/^"sha256:[0-9a-f]{64}"$/);
    const again = await get('/auth/assets/auth.js', { 'If-None-Match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
  });

  it('is each file of the folder, and a page is none', async () => {
    const named = [...ASSETS.map(([name]) => name), 'login.html', 'confirm.html', 'approve.html'];
    expect(readdirSync(FOLDER).toSorted()).toEqual(named.toSorted());
    expect((await get('/auth/assets/login.html')).status).toBe(404);
  });

  it.each([
    'auth.map',
    'AUTH.JS',
    'auth.js%00',
    'constructor',
    '__proto__',
    '..%2fsign-in-pages.controller.ts',
    '%2e%2e%2flogin.html',
    '..%5clogin.html',
    'sub/auth.js',
    '%2fetc%2fpasswd',
  ])('%s is not there', async (name) => {
    const { status, error, headers } = await get(`/auth/assets/${name}`);
    expect([status, error['code'], headers.get('content-type')]).toEqual([
      404,
      'not_found',
      'application/json; charset=utf-8',
    ]);
  });
});
