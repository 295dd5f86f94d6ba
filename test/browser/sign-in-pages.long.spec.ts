import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '#libs/domain/kernel';
import { SignInPagesController } from '../../apps/api/src/pages/sign-in/sign-in-pages.controller.js';
import { startEdge, type TestEdge } from '../http/edge-harness.js';
import { deferred } from '../support/deferred.js';
import { AuthScript, AuthStandIn, CODE, MeStandIn, tokenOf } from './auth-stand-in.js';
import { CHROMIUM, launchChromium, NO_CHROMIUM } from './chromium.js';
import { lookAt, OPENED } from './look.js';

const RATE_LIMITED = new DomainError('rate_limited', { retryAfterSeconds: 230 });

let edge: TestEdge;
let browser: Browser;
let script: AuthScript;

describe.skipIf(CHROMIUM === null)(`the sign-in pages in a browser (${CHROMIUM ?? NO_CHROMIUM})`, () => {
  beforeAll(async () => {
    edge = await startEdge({ controllers: [SignInPagesController, AuthStandIn, MeStandIn], providers: [AuthScript] });
    script = edge.app.get(AuthScript);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await edge?.close();
  });

  describe('step by step', () => {
    let context: BrowserContext;
    let page: Page;
    /** All addresses that the browser requested. */
    let urls: string[];
    /** What the browser reported, except for refusals of the API. */
    let complaints: string[];

    beforeEach(async () => {
      script.forget();
      context = await browser.newContext({ ...OPENED, locale: 'de-AT' });
      [page, urls, complaints] = [await context.newPage(), [], []];
      await page.exposeFunction('report', (text: string) => complaints.push(text));
      await page.addInitScript(
        "addEventListener('securitypolicyviolation', (event) => report(event.violatedDirective + ' ' + event.blockedURI))",
      );
      page.on('request', (request) => urls.push(request.url()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message: ConsoleMessage) => {
        if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
      });
    });

    afterEach(async () => {
      const seen = complaints;
      await context.close();
      expect(seen).toEqual([]);
    });

    const heading = (): Promise<string> => page.locator('h1:visible').innerText();
    /** Waits until the link is checked. The heading is the same before. */
    const ready = () => expect.poll(() => page.locator('#ready').isVisible()).toBe(true);
    const open = (path: string) => page.goto(`${edge.url}${path}`);
    const press = (name: string) => page.getByRole('button', { name }).click();
    const focused = () => page.locator(':focus').getAttribute('id');
    const paths = () => script.calls.map(({ path }) => path);

    const look = (name: string): Promise<void> => lookAt(page, name);

    const toCode = async (path = '/login'): Promise<void> => {
      await open(path);
      await page.getByLabel('E-mail address').fill(' ada@example.com ');
      await press('Send the e-mail');
      await expect.poll(heading).toBe('Check your e-mail');
    };

    it('sign in by the code, pasted as the mail shows it', async () => {
      await open('/login');
      await look('1-address');
      await toCode();
      await look('2-code');
      const code = page.getByLabel('Code from the e-mail');
      expect(await focused()).toBe('code');
      expect([await code.getAttribute('autocomplete'), await code.getAttribute('inputmode')]).toEqual([
        'one-time-code',
        'numeric',
      ]);
      await page.keyboard.insertText(` ${CODE.slice(0, 3)}-${CODE.slice(3)} `);
      await page.keyboard.press('Enter');
      await expect.poll(heading).toBe('You are signed in');
      expect(await page.locator('#done').innerText()).toContain('This browser is signed in as ada@example.com.');
      await look('3-signed-in');
      expect(script.calls).toEqual([
        { path: 'login', body: { email: 'ada@example.com' } },
        { path: 'callback', body: { email: 'ada@example.com', code: CODE } },
      ]);
    });

    it('say why somebody was signed out, only to that browser', async () => {
      await open('/login');
      expect(script.calls).toEqual([]);
      await context.addCookies([{ name: 'service_csrf', value: 'of-a-session', url: edge.url }]);
      script.failure = new DomainError('session_expired', {
        message: 'You were signed out because your address was changed. Sign in with the new address at /login.',
      });
      await open('/login');
      const said = page.locator('#signed-out');
      await expect
        .poll(() => said.innerText())
        .toBe('You were signed out because your address was changed. Sign in with the new address.');
      await look('1-signed-out');
      script.failure = new DomainError('authentication_required');
      await open('/login?reason=anything');
      await expect.poll(() => script.calls.length).toBe(2);
      expect(await said.innerText()).toBe('');
    });

    it('say that a code is wrong, at the field and to screen readers', async () => {
      await toCode();
      const code = page.getByLabel('Code from the e-mail');
      await code.fill('12345');
      await press('Sign in');
      const problem = page.locator('#code-problem');
      expect(await problem.innerText()).toBe('Enter the 6 digits of the code.');
      expect(paths()).toEqual(['login']);
      await code.fill('000000');
      await press('Sign in');
      await expect.poll(() => problem.innerText()).toBe('This code is wrong or has expired. Ask for a new e-mail.');
      expect(await problem.getAttribute('role')).toBe('alert');
      expect(await focused()).toBe('code');
      expect(await code.getAttribute('aria-invalid')).toBe('true');
      await look('4-wrong-code');
      await press('Send a new e-mail');
      await expect.poll(() => page.locator('#code-news').innerText()).toContain('A new e-mail is on its way.');
      expect([await problem.innerText(), await code.inputValue()]).toEqual(['', '']);
      await code.fill(CODE);
      await press('Sign in');
      await expect.poll(heading).toBe('You are signed in');
    });

    it('say what is wrong with an address', async () => {
      await open('/login');
      await press('Send the e-mail');
      const problem = page.locator('#email-problem');
      expect(await problem.innerText()).toBe('Enter your e-mail address.');
      expect(paths()).toEqual([]);
      await page.getByLabel('E-mail address').fill('ada');
      await press('Send the e-mail');
      await expect.poll(() => problem.innerText()).toBe('The field email must be an e-mail address.');
      await look('5-wrong-address');
    });

    it('say in words how long to wait, and put the focus there', async () => {
      await open('/login');
      await page.getByLabel('E-mail address').fill('ada@example.com');
      script.failure = RATE_LIMITED;
      await press('Send the e-mail');
      const problem = page.locator('#email-problem');
      await expect.poll(() => problem.innerText()).toBe('Too many requests. Try again in 4 minutes.');
      expect(await focused()).toBe('email-problem');
      await look('6-rate-limited');
      await open(`/auth/confirm#token=${tokenOf('good')}`);
      await ready();
      script.failure = RATE_LIMITED;
      await page.locator('#confirm').click();
      const other = page.locator('#ready-problem');
      await expect.poll(() => other.innerText()).toBe('Too many requests. Try again in 4 minutes.');
      await page.locator('#confirm').click();
      await expect.poll(heading).toBe('You are signed in');
    });

    it('take another address, and find the step again after a reload', async () => {
      await toCode();
      await page.reload();
      await expect.poll(heading).toBe('Check your e-mail');
      await press('Use another address');
      await expect.poll(heading).toBe('Sign in');
      expect(await page.getByLabel('E-mail address').inputValue()).toBe('ada@example.com');
      await page.goForward();
      await expect.poll(heading).toBe('Check your e-mail');
      await page.getByLabel('Code from the e-mail').fill(CODE);
      await press('Sign in');
      await expect.poll(heading).toBe('You are signed in');
      expect(paths()).toEqual(['login', 'callback']);
    });

    it('ignore further presses while a request is under way', async () => {
      await open('/login');
      await page.getByLabel('E-mail address').fill('ada@example.com');
      script.held = deferred();
      await press('Send the e-mail');
      await expect.poll(() => page.locator('#send').innerText()).toBe('Sending …');
      expect(await page.locator('#send').isDisabled()).toBe(true);
      await page.getByLabel('E-mail address').press('Enter');
      script.held.resolve();
      await expect.poll(heading).toBe('Check your e-mail');
      expect(paths()).toEqual(['login']);
      expect(await page.locator('#sign-in').isDisabled()).toBe(false);
    });

    it('say that the service does not answer', async () => {
      await open('/login');
      await page.getByLabel('E-mail address').fill('ada@example.com');
      await context.setOffline(true);
      await press('Send the e-mail');
      await expect
        .poll(() => page.locator('#email-problem').innerText())
        .toBe('The service did not answer. Check your connection, then try again.');
    });

    it('use a link only by a press, and keep its token out of every address', async () => {
      await open(`/auth/confirm#token=${tokenOf('good')}`);
      await expect.poll(() => page.locator('#ready').isVisible()).toBe(true);
      const shown = await page.locator('#ready').innerText();
      expect(shown).toContain('ada@example.com');
      // The name is shown as text, and its direction marks do not affect the words around it.
      expect(shown).toContain('Müller & <b>Sons</b> GmbH');
      expect(shown).toContain('Admin');
      expect(await page.getByText('Sons').locator('b').count()).toBe(0);
      await look('7-link');
      expect(page.url()).toBe(`${edge.url}/auth/confirm`);
      expect(script.calls).toEqual([{ path: 'preview', body: { token: tokenOf('good') } }]);
      await press('Sign in');
      await expect.poll(heading).toBe('You are signed in');
      expect(script.calls.slice(1)).toEqual([{ path: 'callback', body: { token: tokenOf('good') } }]);
      expect(await page.evaluate('document.activeElement.textContent')).toBe('You are signed in');
      expect(urls.filter((url) => url.replace(/#.*$/, '').includes('good_'))).toEqual([]);
      expect(await page.evaluate('[location.href, JSON.stringify(history.state), document.cookie]')).toEqual([
        `${edge.url}/auth/confirm`,
        'null',
        '',
      ]);
      expect(await page.evaluate('[localStorage.length, sessionStorage.length]')).toEqual([0, 0]);
      await page.goBack();
      expect(page.url()).not.toContain('good_');
    });

    it('say which organization an invitation or a link is for, if any', async () => {
      await open(`/auth/confirm#token=${tokenOf('invite')}`);
      await expect.poll(heading).toBe('Join Müller & <b>Sons</b> GmbH');
      expect(await page.locator('#ready-inviter').innerText()).toBe('grace@example.com');
      await look('8-invitation');
      // The page stays loaded: only the fragment of the address changes.
      await page.evaluate(`location.hash = 'token=${tokenOf('anywhere')}'`);
      await expect.poll(heading).toBe('Sign in');
      await expect.poll(() => page.locator('#ready').innerText()).not.toContain('Organization');
      expect(page.url()).toBe(`${edge.url}/auth/confirm`);
      await press('Sign in');
      await expect.poll(heading).toBe('You are signed in');
      expect(script.calls.at(-1)).toEqual({ path: 'callback', body: { token: tokenOf('anywhere') } });
    });

    it('show no address to the first owner, who has none', async () => {
      await open(`/auth/confirm#token=${tokenOf('first')}`);
      await ready();
      expect(await page.locator('#ready').innerText()).not.toMatch(/E-mail|null/);
      await press('Sign in');
      await expect.poll(heading).toBe('You are signed in');
      expect(await page.locator('#done').innerText()).not.toMatch(/signed in as|null/);
    });

    it('say that a link has expired, was used meanwhile or is cut, and what to do', async () => {
      await open(`/auth/confirm#token=${tokenOf('expired')}`);
      await expect.poll(heading).toBe('The link cannot be used');
      const problem = page.locator('#failed-problem');
      expect(await problem.innerText()).toBe('This sign-in link has expired or was used. Ask for a new one.');
      await look('9-expired');
      await page.evaluate(`location.hash = 'token=${tokenOf('good')}'`);
      await ready();
      script.failure = new DomainError('login_link_invalid');
      await press('Sign in');
      await expect.poll(heading).toBe('The link cannot be used');
      expect(await page.getByRole('button', { name: 'Try again' }).isVisible()).toBe(false);
      await open('/auth/confirm?again');
      await expect.poll(() => problem.innerText()).toContain('The link is incomplete.');
      await page.getByRole('link', { name: 'Sign in with your e-mail address' }).click();
      await expect.poll(() => page.url()).toBe(`${edge.url}/login`);
    });

    it('check a link again after the service was unreachable', async () => {
      script.failure = new DomainError('service_unavailable');
      await open(`/auth/confirm#token=${tokenOf('good')}`);
      await expect.poll(heading).toBe('The link could not be checked');
      await look('10-away');
      await press('Try again');
      await ready();
      expect(paths()).toEqual(['preview', 'preview']);
    });

    it('go where the callback says, within this site', async () => {
      await toCode('/login?next=%2Fdocs%2Ferrors%3Fa%3D1');
      script.next = '/auth/assets/icon.svg?a=1';
      await page.getByLabel('Code from the e-mail').fill(CODE);
      await press('Sign in');
      await expect.poll(() => page.url()).toBe(`${edge.url}/auth/assets/icon.svg?a=1`);
      expect(script.calls[0]?.body).toEqual({ email: 'ada@example.com', next: '/docs/errors?a=1' });
    });

    it('go nowhere else', async () => {
      await toCode(`/login?next=${encodeURIComponent('//evil.example/')}`);
      script.next = '//evil.example/';
      await page.getByLabel('Code from the e-mail').fill(CODE);
      await press('Sign in');
      await expect.poll(heading).toBe('You are signed in');
      expect(script.calls[0]?.body).toEqual({ email: 'ada@example.com' });
      expect(page.url()).toBe(`${edge.url}/login?next=${encodeURIComponent('//evil.example/')}`);
    });

    it('cannot violate the content policy unnoticed', async () => {
      await open('/login');
      await page.evaluate("document.body.setAttribute('style', 'color: red')");
      // A violation gives both an event and a line in the console.
      await expect.poll(() => complaints.filter((text) => text.includes('style-src')).length).toBeGreaterThan(1);
      complaints.length = 0;
    });
  });

  it('say without JavaScript what to do', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    for (const path of ['/login', `/auth/confirm#token=${tokenOf('good')}`]) {
      await page.goto(`${edge.url}${path}`);
      expect(await page.locator('main').innerText()).toContain('This page needs JavaScript.');
      expect(await page.locator('form:visible').count()).toBe(0);
    }
    await context.close();
  });

  /** The results of a function of the pages' script for each value, computed in the browser. */
  const inBrowser = async (name: string, values: readonly unknown[]): Promise<unknown> => {
    const page = await browser.newPage();
    await page.goto(`${edge.url}/login`);
    const call = `import('/auth/assets/auth.js').then((script) => ${JSON.stringify(values)}.map(script.${name}))`;
    const results = await page.evaluate(call);
    await page.close();
    return results;
  };

  it('put times into words, rounded up', async () => {
    expect(await inBrowser('waitInWords', [1, 59.2, 60, 61, 230, 3540, 3541, 7201])).toEqual([
      ...['1 second', '60 seconds', '1 minute', '2 minutes', '4 minutes', '59 minutes', '1 hour', '3 hours'],
    ]);
  });

  it('accept only a path of this site as the next page', async () => {
    const paths = ['/', '/app', '/app/actions?status=denied#a', '/%2F/evil.example', '/a//b', '/:8080'];
    expect(await inBrowser('addressOf', paths)).toEqual(paths.map((path) => `${edge.url}${path}`));
    const others = [
      ...['//evil.example', '/\\evil.example', '\\/evil.example', '/a\\b', '/\t/evil.example', '/\n/evil.example'],
      ...[
        'https://evil.example/',
        'javascript:alert(1)',
        'app',
        '',
        ' /app',
        '/\u0000',
        '/\u0085',
        `/${'a'.repeat(2_048)}`,
      ],
      ...[null, 7, { href: '/' }, ['/']],
    ];
    expect(await inBrowser('addressOf', others)).toEqual(others.map(() => null));
  });
});
