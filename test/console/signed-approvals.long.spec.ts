import type { BrowserContext, CDPSession, Locator, Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { runAgsHere } from '../support/run-ags.js';
import { OWNER } from './console-scene.js';
import { browser, DESK, describeConsole, inWindow, PHONE, scene } from './describe-console.js';
import { judgeWhole } from './whole-screen.js';

const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name });

/** Passkeys need a name: the service is at this one, too. */
const named = (path: string): string => scene.url(path).replace('127.0.0.1', 'localhost');

const SECRET = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const;
const SIZES = {
  phone: { width: 390, height: 844, colorScheme: 'light', hasTouch: true },
  desk: { width: 1440, height: 900, colorScheme: 'light', hasTouch: false },
} as const;

describeConsole('approvals that are signed with a passkey', () => {
  let context: BrowserContext;
  let page: Page;
  let device: CDPSession;
  let authenticatorId: string;

  /** A window of the owner at the name, with a device that does what it is asked and knows its person. */
  const open = async (size: typeof DESK | typeof PHONE): Promise<void> => {
    context = await browser.newContext(size);
    page = await context.newPage();
    device = await context.newCDPSession(page);
    await device.send('WebAuthn.enable');
    const options = { ...SECRET, isUserVerified: true, automaticPresenceSimulation: true };
    ({ authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', { options }));
    const known = await scene.window(OWNER);
    const cookies = await known.context.cookies();
    await known.context.close();
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, domain: 'localhost' })));
  };
  beforeEach(() => open(DESK));
  afterEach(() => context.close());

  const passkeys = () => page.getByRole('region', { name: 'Passkeys' });
  const add = async (name: string): Promise<void> => {
    await page.goto(named('/app/settings/sessions'));
    await button(passkeys(), 'Add passkey').click();
    await page.getByRole('dialog').getByLabel('Name').fill(name);
    await button(page.getByRole('dialog'), 'Add passkey').click();
    await passkeys().getByText('Passkey added.').waitFor();
  };
  const remove = async (name: string): Promise<void> => {
    await page.goto(named('/app/settings/sessions'));
    await button(passkeys(), `Remove ${name}`).click();
    await button(page.getByRole('dialog'), 'Remove passkey').click();
    await passkeys().getByText('Passkey removed.').waitFor();
  };

  let calls = 0;
  const asked = async (): Promise<string> => scene.ask('crm.add_note', { id: '42', note: `signed ${(calls += 1)}` });
  const show = async (approval: string): Promise<void> => {
    await page.goto(named(`/app/approvals/${approval}`));
    await button(page, 'Approve').waitFor();
    await eventually(() => button(page, 'Approve').getAttribute('aria-disabled')).toBeNull();
  };
  const approved = () => page.getByText('Approved', { exact: true });

  it('are asked for in the settings, by an owner', async () => {
    await page.goto(named('/app/settings/organization'));
    await page.getByRole('radio', { name: /Always/ }).check();
    await judgeWhole(page, 'signed-settings', SIZES.desk);
    await button(page, 'Save approval settings').click();
    await page.getByText('Approval settings saved.').waitFor();
  });

  it('lead whoever has no passkey to the settings, and are denied without', async () => {
    const approval = await asked();
    await show(approval);
    await page.getByText('you have none here yet').waitFor();
    await judgeWhole(page, 'signed-none', SIZES.desk);
    await button(page, 'Approve').click();
    await page.getByRole('alert').getByText('you have none here. Add one in the Console').waitFor();
    await page.getByRole('link', { name: 'Add one in Settings' }).click();
    await passkeys().waitFor();
    await show(approval);
    await button(page, 'Deny').click();
    await page.getByText('Denied', { exact: true }).waitFor();
  });

  it('are approved by the person’s device, and not by one that verifies nobody', async () => {
    await add('Laptop');
    await show(await asked());
    await page.getByText('your device asks for it').waitFor();
    await judgeWhole(page, 'signed-desk', SIZES.desk);
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await button(page, 'Approve').click();
    await page.getByRole('alert').getByText('Nothing was approved').waitFor();
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await button(page, 'Approve').click();
    await approved().waitFor();
    await remove('Laptop');
  });

  it('take no passkey of another device', async () => {
    await add('Laptop');
    const approval = await asked();
    const { credentials } = await device.send('WebAuthn.getCredentials', { authenticatorId });
    const [known] = credentials;
    if (known === undefined) throw new Error('no credential');
    // The device has a key of somebody else under this id: what it signs is not the person's.
    await device.send('WebAuthn.clearCredentials', { authenticatorId });
    await device.send('WebAuthn.addCredential', { authenticatorId, credential: { ...known, privateKey: FOREIGN_KEY } });
    await show(approval);
    await button(page, 'Approve').click();
    await page.getByRole('alert').getByText('The passkey did not sign this decision').waitFor();
    await remove('Laptop');
  });

  it('are approved on a phone, and by the link of a mail', async () => {
    await context.close();
    await open(PHONE);
    await add('Phone');
    await show(await asked());
    await judgeWhole(page, 'signed-phone', SIZES.phone);
    await button(page, 'Approve').tap();
    await approved().waitFor();
    const approval = await asked();
    const token = await mailedLink(approval);
    await page.goto(`${named('/auth/approve')}#token=${token}`);
    await page.getByText('your device asks for it').waitFor();
    await eventually(() => button(page, /^(Approve|Yes, approve)/).count()).toBe(1);
    await judgeWhole(page, 'signed-mail', SIZES.phone);
    await button(page, 'Approve').tap();
    await approved().waitFor();
    await remove('Phone');
  });

  it('say at an IP address where they can be given', async () => {
    await add('Laptop');
    const approval = await asked();
    await inWindow(OWNER, DESK, async (there) => {
      await there.goto(scene.url(`/app/approvals/${approval}`));
      const link = there.getByRole('link', { name: 'Open this page at localhost' });
      expect(await link.getAttribute('href')).toBe(named(`/app/approvals/${approval}`));
    });
    await remove('Laptop');
  });
});

/** P-256, PKCS#8: the private number is 1. */
const FOREIGN_KEY =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGhRANCAARrF9Hy4SxCR/i85uVjpEDydwN9gS3rM6D0oTlF2JjClk/jQuL+Gn+bjufrSnwPnhYrzjNXazFezsu2QGg3v1H1';

/** The token of the newest mail to the owner about this approval's tool. */
const mailedLink = async (approval: string): Promise<string> => {
  let token = '';
  await eventually(async () => {
    const { objects } = await runAgsHere(['mail', 'outbox', '--json'], { env: scene.service.environment });
    const tokens = objects
      .filter(({ to }) => to === OWNER)
      .map(({ text }) => /#token=([A-Za-z0-9_-]{43})$/m.exec(String(text))?.[1])
      .filter((found) => found !== undefined);
    for (const found of tokens) {
      const answer = await fetch(scene.url('/v1/approvals/link/preview'), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token: found }),
      });
      const { approval: about } = (await answer.json()) as { approval?: { id: string } };
      if (about?.id === approval) token = found;
    }
    return token;
  }).not.toBe('');
  return token;
};
