import type { BrowserContext, CDPSession, Locator, Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { runAgsHere } from '../support/run-ags.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, browser, describeConsole, inWindow, scene } from './describe-console.js';
import { judgeWhole, LOOKS, windowOf } from './whole-screen.js';

const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');
const passkeys = (page: Page) => page.getByRole('region', { name: 'Passkeys' });

/** Passkeys need a name: the service is at this one, too. */
const named = (path: string): string => scene.url(path).replace('127.0.0.1', 'localhost');

/** The cookies of a person, as if the person had signed in at the name. */
const cookiesAtName = async (email: string) => {
  const { context } = await scene.window(email);
  const cookies = await context.cookies();
  await context.close();
  return cookies.map((cookie) => ({ ...cookie, domain: 'localhost' }));
};

const SECRET = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const;

describeConsole('passkeys in the Console', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
  });

  let context: BrowserContext;
  let page: Page;
  let device: CDPSession;
  let authenticatorId: string;

  /** A window at the name, with a device that does what it is asked and knows its person. */
  beforeEach(async () => {
    context = await browser.newContext(DESK);
    page = await context.newPage();
    device = await context.newCDPSession(page);
    await device.send('WebAuthn.enable');
    const options = { ...SECRET, isUserVerified: true, automaticPresenceSimulation: true };
    ({ authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', { options }));
  });
  afterEach(() => context.close());

  const signedIn = async (email: string): Promise<void> => {
    await context.addCookies(await cookiesAtName(email));
    await page.goto(named('/app/settings/sessions'));
    await passkeys(page).waitFor();
  };

  const add = async (name: string): Promise<void> => {
    await button(passkeys(page), 'Add passkey').click();
    await dialog(page).getByLabel('Name').fill(name);
    await button(dialog(page), 'Add passkey').click();
  };

  const enterByPasskey = async (): Promise<void> => {
    await context.clearCookies();
    await page.goto(named('/login?next=%2Fapp%2Fsettings%2Fsessions'));
    await button(page, 'Sign in with a passkey').click();
  };

  const credentials = async () => (await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials;

  it('are added, sign in, and are removed', async () => {
    await signedIn(VIEWER);
    await add('Work laptop');
    await passkeys(page).getByText('Passkey added.').waitFor();
    await passkeys(page).getByText('Work laptop', { exact: true }).waitFor();
    await passkeys(page).getByText('not used to sign in yet').waitFor();
    expect(await credentials()).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }]);

    await enterByPasskey();
    await page.waitForURL('**/app/settings/sessions');
    await passkeys(page).getByText('last used').waitFor();
    await page.getByText('with a passkey').first().waitFor();

    await button(passkeys(page), 'Remove Work laptop').click();
    await button(dialog(page), 'Remove passkey').click();
    await passkeys(page).getByText('No passkeys yet.').waitFor();

    // The device still offers it; nobody is signed in by it.
    await enterByPasskey();
    await page.getByRole('alert').getByText('The passkey could not be used here').waitFor();
    expect((await context.request.get(named('/v1/me'))).status()).toBe(401);
  });

  it('are told to the person by mail, and to admins as security events', async () => {
    await signedIn(OWNER);
    await add('Told');
    await passkeys(page).getByText('Passkey added.').waitFor();
    await eventually(async () => {
      const { objects } = await runAgsHere(['mail', 'outbox', '--json'], { env: scene.service.environment });
      return objects.some(({ to, text }) => to === OWNER && String(text).includes('The passkey "Told" was added'));
    }).toBe(true);
    await page.goto(named('/app/settings/security'));
    await page.getByText('added a passkey').first().waitFor();
    await page.goto(named('/app/settings/sessions'));
    await button(passkeys(page), 'Remove Told').click();
    await button(dialog(page), 'Remove passkey').click();
    await passkeys(page).getByText('Passkey removed.').waitFor();
  });

  it('are made once a device', async () => {
    await signedIn(OWNER);
    await add('First');
    await passkeys(page).getByText('Passkey added.').waitFor();
    await add('Second');
    await dialog(page).getByText('This device already has a passkey for this organization.').waitFor();
    await button(dialog(page), 'Cancel').click();
    await button(passkeys(page), 'Remove First').click();
    await button(dialog(page), 'Remove passkey').click();
    await passkeys(page).getByText('Passkey removed.').waitFor();
  });

  it('are made by no device that does not verify its person, and by none for another site', async () => {
    await signedIn(VIEWER);
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await add('Unverified');
    await dialog(page).getByText('No passkey was added').waitFor();
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await page.route('**/v1/passkeys/options', async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { public_key: { rp: object } };
      await route.fulfill({
        response,
        json: { ...answer, public_key: { ...answer.public_key, rp: { id: 'example.com', name: 'x' } } },
      });
    });
    await button(dialog(page), 'Add passkey').click();
    await dialog(page).getByText('This browser cannot make a passkey here.').waitFor();
    await page.unrouteAll();
    expect(await credentials()).toEqual([]);
  });

  it('sign nobody in by a device that does not verify its person', async () => {
    await signedIn(VIEWER);
    await add('Verified');
    await passkeys(page).getByText('Passkey added.').waitFor();
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await enterByPasskey();
    await page.getByRole('alert').getByText('Nobody was signed in').waitFor();
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await button(page, 'Sign in with a passkey').click();
    await page.waitForURL('**/app/settings/sessions');
  });

  it('need a sign-in that is not old, and lead to one', async () => {
    await signedIn(VIEWER);
    const message = 'This needs a sign-in of the last 10 minutes. Sign in again at /login, then repeat it.';
    await page.route('**/v1/passkeys/options', (route) =>
      route.fulfill({
        status: 403,
        json: { error: { type: 'permission_error', code: 'recent_sign_in_required', message, param: null } },
      }),
    );
    await add('Late');
    await dialog(page).getByText(message).waitFor();
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await page.waitForURL('**/login?next=%2Fapp%2Fsettings%2Fsessions');
  });

  it('that may have been copied still sign in, and say so where people look', async () => {
    await signedIn(OWNER);
    await add('Copied');
    await passkeys(page).getByText('Passkey added.').waitFor();
    for (let count = 0; count < 2; count += 1) {
      await enterByPasskey();
      await page.waitForURL('**/app/settings/sessions');
    }
    // Another device with the same key, which has counted less.
    const [credential] = await credentials();
    if (credential === undefined) throw new Error('no credential');
    await device.send('WebAuthn.removeCredential', { authenticatorId, credentialId: credential.credentialId });
    await device.send('WebAuthn.addCredential', { authenticatorId, credential: { ...credential, signCount: 0 } });
    await enterByPasskey();
    await page.waitForURL('**/app/settings/sessions');
    await passkeys(page).getByText('It counted its signatures wrongly, as a copy would.').waitFor();
    await page.goto(named('/app'));
    await page.getByText('A passkey of yours counted its signatures wrongly').waitFor();
    await page.getByRole('link', { name: 'View your passkeys' }).click();
    await button(passkeys(page), 'Remove Copied').click();
    await button(dialog(page), 'Remove passkey').click();
    await passkeys(page).getByText('Passkey removed.').waitFor();
  });

  describe('at an IP address', () => {
    it('are not to be had: the settings say so and lead to the name', async () => {
      await inWindow(OWNER, DESK, async (there) => {
        await there.goto(scene.url('/app/settings/sessions'));
        await passkeys(there).getByText('Browsers have no passkeys at an IP address such as 127.0.0.1.').waitFor();
        expect(await button(there, 'Add passkey').count()).toBe(0);
        const link = there.getByRole('link', { name: 'Open this page at localhost' });
        expect(await link.getAttribute('href')).toBe(named('/app/settings/sessions'));
      });
    });

    it('are not to be had on the page to sign in on, which leads to the name too', async () => {
      await page.goto(scene.url('/login'));
      expect(await button(page, 'Sign in with a passkey').count()).toBe(0);
      await page.getByRole('link', { name: /open this page at localhost/ }).click();
      await button(page, 'Sign in with a passkey').waitFor();
    });
  });

  describe.each(LOOKS)('at $width px, $colorScheme', (size) => {
    it('look right: the list, its dialogs, and the page to sign in on', async () => {
      const known = await browser.newContext(windowOf(size));
      try {
        await known.addCookies(await cookiesAtName(VIEWER));
        const here = await known.newPage();
        await here.goto(named('/app/settings/sessions'));
        await passkeys(here).getByText('Verified', { exact: true }).waitFor();
        await judgeWhole(here, 'passkeys', size);
        await button(passkeys(here), 'Add passkey').click();
        await judgeWhole(here, 'passkeys-add', size);
        await button(dialog(here), 'Cancel').click();
        await button(passkeys(here), 'Remove Verified').click();
        await judgeWhole(here, 'passkeys-remove', size);
        await here.goto(named('/login'));
        await button(here, 'Sign in with a passkey').waitFor();
        await judgeWhole(here, 'passkeys-login', size);
        await here.goto(scene.url('/login'));
        await here.getByRole('link', { name: /open this page at localhost/ }).waitFor();
        await judgeWhole(here, 'passkeys-login-address', size);
      } finally {
        await known.close();
      }
    });
  });
});
