import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runAgsHere } from '../support/run-ags.js';
import { type RunningService, startService } from '../support/service.js';
import { CHROMIUM, launchChromium, NO_CHROMIUM } from './chromium.js';

const SIZES = [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
] as const;

/** A folder to save pictures to, for people to look at. Without it, no pictures are taken. */
const PICTURES = process.env['SIGN_IN_PICTURES'];

let service: RunningService;
let browser: Browser;
const read = new Set<unknown>();
const ags = (...args: string[]) => runAgsHere(args, { env: service.environment });

/** The code of an unread mail. Waits until there is one. */
const nextCode = (): Promise<string> =>
  vi.waitFor(
    async () => {
      const { objects } = await ags('mail', 'outbox', '--json');
      const mail = objects.findLast(({ id }) => !read.has(id));
      if (mail === undefined) throw new Error('no new mail');
      read.add(mail['id']);
      return /^(\d{6})$/m.exec(String(mail['text']))?.[1] ?? '';
    },
    { timeout: 60_000, interval: 500 },
  );

describe.skipIf(CHROMIUM === null)(`signing in to the service itself (${CHROMIUM ?? NO_CHROMIUM})`, () => {
  beforeAll(async () => {
    service = await startService({ env: { LOG_LEVEL: 'error' } });
    const { object } = await ags('people', 'login-link', '--json');
    expect((await ags('people', 'set-address', String(object['user']), 'owner@example.com')).code).toBe(0);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  describe.each(SIZES)('at $width x $height', ({ width, height }) => {
    let context: BrowserContext;
    let page: Page;
    let complaints: string[];

    beforeEach(async () => {
      context = await browser.newContext({ viewport: { width, height } });
      [page, complaints] = [await context.newPage(), []];
      page.on('console', (message) => {
        if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
    });
    afterEach(async () => {
      await context.close();
      expect(complaints).toEqual([]);
    });

    const look = async (name: string): Promise<void> => {
      if (PICTURES === undefined) return;
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `real-${name}-${width}.png`), fullPage: true });
    };
    const me = () => page.evaluate<Record<string, unknown>>(`fetch('/v1/me').then((answer) => answer.json())`);

    it('works by an operator’s link, with one press', async () => {
      const { object } = await ags('people', 'login-link', '--json');
      // The service chose a free port, which the command line cannot know.
      await page.goto(String(object['link']).replace(/^http:\/\/[^/]+/, service.baseUrl));
      await page.locator('button:visible').first().waitFor();
      expect(page.url()).not.toContain('token');
      // Opening the link does not use it up: the browser is still not signed in.
      expect(await me()).toMatchObject({ error: { code: 'authentication_required' } });
      await look('confirm');
      await page.locator('button:visible').first().click();
      await page.waitForURL(`${service.baseUrl}/app`);
      await page.locator('h1').waitFor();
      await look('signed-in');
      expect(await me()).toMatchObject({
        object: 'me',
        session: { via: 'link' },
        csrf_token: expect.stringMatching(/^.{43}$/) as string,
      });
      const cookies = await context.cookies();
      expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]).sort()).toEqual([
        ['service_csrf', false, 'Strict'],
        ['service_session', true, 'Lax'],
      ]);
    });

    it('works by the code of a mail', async () => {
      await page.goto(`${service.baseUrl}/login`);
      await page.getByLabel('E-mail address').fill('owner@example.com');
      await page.locator('button:visible').first().click();
      await page.getByLabel('Code from the e-mail').waitFor();
      await look('code');
      await page.getByLabel('Code from the e-mail').fill(await nextCode());
      await page.locator('button:visible').first().click();
      await page.waitForURL(`${service.baseUrl}/app`);
      expect(await me()).toMatchObject({ session: { via: 'code' }, user: { email: 'owner@example.com' } });
    });
  });
});
