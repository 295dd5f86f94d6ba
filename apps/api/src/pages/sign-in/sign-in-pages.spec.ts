import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '#libs/infra/runtime';
import { clientOf } from '../../../../../test/http/edge-client.js';
import { startEdge, type TestEdge } from '../../../../../test/http/edge-harness.js';
import { SignInPagesController } from './sign-in-pages.controller.js';

const FOLDER = join(packageRoot(), 'apps', 'api', 'src', 'pages', 'sign-in', 'files');
/** Where the Console has it, too. */
const TOKENS = join(packageRoot(), 'apps', 'console', 'src', 'design', 'tokens.css');

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; " +
  "base-uri 'none'; frame-ancestors 'none'";

const PAGES = ['/login', '/auth/confirm', '/auth/approve'];
/** Of each page. */
const scriptOf = (path: string): string => (path === '/auth/approve' ? 'approve.js' : 'auth.js');
/** What each of them loads. */
const partsOf = (path: string): readonly string[] =>
  path === '/auth/approve'
    ? ['about.js', 'page.js', 'passkey.js', 'reading.js']
    : ['page.js', 'passkey.js', 'signed-out.js'];
const ASSETS: readonly (readonly [name: string, type: string])[] = [
  ['tokens.css', 'text/css; charset=utf-8'],
  ['auth.css', 'text/css; charset=utf-8'],
  ['auth.js', 'text/javascript; charset=utf-8'],
  ['page.js', 'text/javascript; charset=utf-8'],
  ['passkey.js', 'text/javascript; charset=utf-8'],
  ['approve.js', 'text/javascript; charset=utf-8'],
  ['about.js', 'text/javascript; charset=utf-8'],
  ['signed-out.js', 'text/javascript; charset=utf-8'],
  ['reading.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', 'image/svg+xml; charset=utf-8'],
];

const KB = 1_000;

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
      new Set(['tokens.css', 'auth.css', 'icon.svg', scriptOf(path)].map((name) => `/auth/assets/${name}`)),
    );
  });

  it.each(PAGES)('%s is at most 1 KB, and what its script loads is served', async (path) => {
    expect(Buffer.byteLength((await get(path)).text)).toBeLessThanOrEqual(KB);
    const script = (await get(`/auth/assets/${scriptOf(path)}`)).text;
    const parts = partsOf(path);
    expect([...script.matchAll(/from '([^']+)'/g)].map(([, file]) => file)).toEqual(parts.map((name) => `./${name}`));
    for (const file of [scriptOf(path), ...parts])
      expect(Buffer.byteLength((await get(`/auth/assets/${file}`)).text)).toBeLessThanOrEqual(10 * KB);
  });

  it('sends no form by itself: an address or a code would stand in a URL', () => {
    const forms = ['auth.js', 'approve.js'].flatMap((file) => [
      ...readFileSync(join(FOLDER, file), 'utf8').matchAll(/'form',\s+\{[^}]*\}/g),
    ]);
    expect(forms).toHaveLength(3);
    for (const [form] of forms) expect(form).toContain("method: 'post'");
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
    expect(text).toBe(readFileSync(name === 'tokens.css' ? TOKENS : join(FOLDER, name), 'utf8'));
  });

  it('is not sent again to who has it', async () => {
    const etag = (await get('/auth/assets/auth.js')).headers.get('etag') as string;
    expect(etag).toMatch(/^"sha256:[0-9a-f]{64}"$/);
    const again = await get('/auth/assets/auth.js', { 'If-None-Match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
  });

  it('is each file of the folder, and the tokens of the Console', () => {
    const named = ASSETS.map(([name]) => name);
    expect([...readdirSync(FOLDER), 'tokens.css'].toSorted()).toEqual(named.toSorted());
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
