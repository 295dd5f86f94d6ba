import { CookieJar } from 'tough-cookie';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorMetadata } from '#libs/domain/kernel';
import { PeopleBench } from '../support/people-bench.js';

const OWNER = 'owner@example.com';
const WEEK_S = 7 * 24 * 60 * 60;
const QUARTER_S = 15 * 60;

type SameSite = 'strict' | 'lax' | 'none';

/** A browser that takes a Set-Cookie as RFC 6265bis reads it or not at all, and sends what it says. */
class StrictBrowser {
  readonly jar = new CookieJar(undefined, { looseMode: false, rejectPublicSuffixes: true, prefixSecurity: 'strict' });
  /** Lines of the last answer, as they were sent. */
  lines: readonly string[] = [];

  constructor(
    private readonly serverUrl: string,
    private readonly site: string,
  ) {}

  /** What it would send there; `script`: what a script of the page sees. */
  async sent(url: string, from: SameSite = 'strict', reader: 'http' | 'script' = 'http'): Promise<readonly string[]> {
    const cookies = await this.jar.getCookies(url, { sameSiteContext: from, http: reader === 'http' });
    return cookies.map(({ key }) => key).sort();
  }

  async post(path: string, body: unknown = {}): Promise<Response> {
    const own = { sameSiteContext: 'strict' } as const;
    const [url, held] = [`${this.site}${path}`, await this.jar.getCookies(`${this.site}${path}`, own)];
    const csrf = held.find(({ key }) => key.endsWith('service_csrf'))?.value;
    const response = await fetch(`${this.serverUrl}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Cookie: await this.jar.getCookieString(url, own),
        ...(csrf === undefined ? {} : { 'Service-CSRF': csrf }),
      },
      body: JSON.stringify(body),
    });
    this.lines = response.headers.getSetCookie();
    // Throws where it would drop the cookie.
    for (const line of this.lines) await this.jar.setCookie(line, url, { ...own, ignoreError: false });
    return response;
  }

  /** In seconds, of each cookie. */
  async lives(): Promise<readonly unknown[]> {
    return (await this.jar.getCookies(`${this.site}/`, { sameSiteContext: 'strict' })).map(({ maxAge }) => maxAge);
  }

  async values(): Promise<Readonly<Record<string, string>>> {
    const cookies = await this.jar.getCookies(`${this.site}/`, { sameSiteContext: 'strict' });
    return Object.fromEntries(cookies.map(({ key, value }) => [key, value]));
  }
}

describe.each([
  { base: 'https://ags.example.com', prefix: '__Host-', env: 'production', isSecure: true },
  { base: 'http://localhost:8080', prefix: '', env: 'dev', isSecure: false },
])('cookies of $base, for a strict reader', ({ base, prefix, env, isSecure }) => {
  const [SESSION, CSRF, LOGIN] = ['session', 'csrf', 'login'].map((kind) => `${prefix}service_${kind}`) as [
    string,
    string,
    string,
  ];
  let bench: PeopleBench;
  let browser: StrictBrowser;

  beforeAll(async () => {
    // Nobody listens there (RFC 863): mails wait, and none is printed.
    const mail = { SMTP_URL: 'smtp://127.0.0.1:9', SERVICE_MAIL_FROM: 'ags@example.com' };
    bench = await PeopleBench.start({ SERVICE_BASE_URL: base, SERVICE_ENV: env, ...mail });
    await bench.giveAddress(bench.owner, OWNER);
    browser = new StrictBrowser(bench.url, base);
  });
  afterAll(() => bench?.close());

  const signIn = async (): Promise<void> => {
    const metadata = operatorMetadata(bench.deployment, bench.org);
    const token = await bench.deployment.persons().issueLink(bench.org, bench.owner, metadata);
    expect((await browser.post('/v1/auth/callback', { token })).status).toBe(200);
  };
  /** As they were sent, but for how long it lives, which is to the end of a session that has just begun. */
  const attributesOf = (line: string): readonly string[] =>
    line
      .replace(/Max-Age=[1-9]\d*/, 'Max-Age=LIFE')
      .split('; ')
      .slice(1)
      .sort();
  const isAWeek = (seconds: unknown): boolean => Number(seconds) > WEEK_S - 600 && Number(seconds) <= WEEK_S;
  const secure = isSecure ? ['Secure'] : [];

  it('the one of a request for a mail goes to this site alone, for a quarter of an hour, and never to a script', async () => {
    expect((await browser.post('/v1/auth/login', { email: OWNER })).status).toBe(202);
    const [cookie] = await browser.jar.getCookies(`${base}/`, { sameSiteContext: 'strict' });
    expect(cookie).toMatchObject({ key: LOGIN, path: '/', maxAge: QUARTER_S, hostOnly: true, secure: isSecure });
    expect(await browser.sent(`${base}/v1/auth/callback`)).toEqual([LOGIN]);
    expect(await browser.sent(`${base}/v1/auth/callback`, 'lax')).toEqual([]);
    expect(await browser.sent(`${base}/login`, 'strict', 'script')).toEqual([]);
  });

  it('a sign-in by the code of the mail takes that one away and gives two', async () => {
    const { code } = await bench.mail(OWNER);
    expect((await browser.post('/v1/auth/callback', { email: OWNER, code })).status).toBe(200);
    expect(browser.lines.map(attributesOf)).toEqual([
      ['HttpOnly', 'Max-Age=LIFE', 'Path=/', 'SameSite=Lax', ...secure],
      ['Max-Age=LIFE', 'Path=/', 'SameSite=Strict', ...secure],
      ['HttpOnly', 'Max-Age=0', 'Path=/', 'SameSite=Strict', ...secure],
    ]);
    expect(Object.keys(await browser.values()).sort()).toEqual([CSRF, SESSION]);
    for (const life of await browser.lives()) expect(isAWeek(life)).toBe(true);
  });

  it('they go to every path of this host, to no other host, and over no plain connection', async () => {
    for (const path of ['/', '/v1/me', '/auth/confirm', '/app/actions?a=1'])
      expect(await browser.sent(`${base}${path}`)).toEqual([CSRF, SESSION]);
    const { protocol, hostname, port } = new URL(base);
    for (const other of [`sub.${hostname}`, `${hostname}.evil.example`, `evil-${hostname}`, 'example.com'])
      expect(await browser.sent(`${protocol}//${other}:${port}/`)).toEqual([]);
    expect(await browser.sent(base.replace('https:', 'http:'))).toEqual(isSecure ? [] : [CSRF, SESSION]);
  });

  it('another site brings neither into a request, a link from there the session alone; a script sees the CSRF token alone', async () => {
    expect(await browser.sent(`${base}/v1/me`, 'none')).toEqual([]);
    expect(await browser.sent(`${base}/v1/me`, 'lax')).toEqual([SESSION]);
    expect(await browser.sent(`${base}/v1/me`, 'strict', 'script')).toEqual([CSRF]);
  });

  it('a switch puts new values in the place of both, which end when the first would have', async () => {
    const before = await browser.values();
    expect((await browser.post('/v1/auth/switch-org', { org: bench.org })).status).toBe(200);
    const after = await browser.values();
    expect(Object.keys(after).sort()).toEqual([CSRF, SESSION]);
    for (const name of [SESSION, CSRF]) {
      expect(after[name]).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(after[name]).not.toBe(before[name]);
    }
    for (const life of await browser.lives()) expect(isAWeek(life)).toBe(true);
  });

  it('signing out leaves none', async () => {
    expect((await browser.post('/v1/auth/logout')).status).toBe(204);
    expect(browser.lines.map(attributesOf)).toEqual([
      ['HttpOnly', 'Max-Age=0', 'Path=/', 'SameSite=Lax', ...secure],
      ['Max-Age=0', 'Path=/', 'SameSite=Strict', ...secure],
    ]);
    expect(await browser.values()).toEqual({});
    await signIn();
    expect((await browser.post('/v1/auth/logout', { everywhere: true })).status).toBe(204);
    expect(await browser.values()).toEqual({});
  });
});
