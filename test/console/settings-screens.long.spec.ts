import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../http/edge-client.js';
import { startUpstream, type Upstream } from '../support/upstream.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, PHONE, describeConsole, inWindow, scene } from './describe-console.js';
import { judgeWhole, type Look, LOOKS, windowOf } from './whole-screen.js';

let receiver: Upstream;

const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');
const panel = (page: Page, name: string) => page.getByRole('region', { name });
const row = (page: Page, text: string) => page.locator('tbody tr').filter({ hasText: text });
const settings = (page: Page) => page.getByRole('navigation', { name: 'Settings' });
const open = (page: Page, section: string) => page.goto(scene.url(`/app/settings/${section}`));

const SECTIONS: readonly (readonly [name: string, title: string])[] = [
  ['organization', 'Organization'],
  ['members', 'Members'],
  ['admin-keys', 'Admin keys'],
  ['webhooks', 'Webhooks'],
  ['witnesses', 'Witnesses'],
  ['sessions', 'Sessions and passkeys'],
  ['security', 'Security events'],
  ['about', 'About'],
];

/** Dialogs and popovers of a section, each with the steps to open it. */
const DIALOGS: readonly (readonly [name: string, section: string, open: (page: Page) => Promise<void>])[] = [
  ['invite', 'members', (page) => button(page, 'Invite person').click()],
  [
    'member-menu',
    'members',
    (page) =>
      button(page, /^Actions for/)
        .first()
        .click(),
  ],
  [
    'change-member',
    'members',
    async (page) => {
      await button(page, `Actions for ${VIEWER}`).click();
      await button(page, 'Change role and references').click();
    },
  ],
  [
    'roll-key',
    'admin-keys',
    (page) =>
      button(page, /^Roll svc_/)
        .first()
        .click(),
  ],
  [
    'revoke-key',
    'admin-keys',
    (page) =>
      button(page, /^Revoke svc_/)
        .first()
        .click(),
  ],
  [
    'retention',
    'organization',
    async (page) => {
      await panel(page, 'Retention').getByLabel('Custom').check();
      await panel(page, 'Retention').getByLabel('Days', { exact: true }).fill('7');
      await page.getByText('Bodies older than 7 days').scrollIntoViewIfNeeded();
    },
  ],
  [
    'webhook-refused',
    'webhooks',
    async (page) => {
      await button(page, 'New webhook').click();
      await page.getByLabel('Address').fill('ftp://example.com');
      await dialog(page).getByText('Agents', { exact: true }).click();
      await button(page, /^Create webhook$/).click();
      await dialog(page).getByRole('alert').first().waitFor();
    },
  ],
  ['make-key', 'admin-keys', (page) => button(page, 'New admin key').click()],
  ['make-webhook', 'webhooks', (page) => button(page, 'New webhook').click()],
  ['everywhere', 'sessions', (page) => button(page, 'Sign out everywhere').click()],
];

describeConsole('the screens of the settings', () => {
  beforeAll(async () => {
    receiver = await startUpstream((_seen, response) => response.writeHead(204).end());
    await scene.joinedViewer();
  });
  afterAll(async () => {
    await receiver?.close();
  });

  const furnish = async ({ width, colorScheme }: Look): Promise<string> => {
    const hook = await scene.make('POST', '/v1/webhooks', { url: `${receiver.baseUrl}/${width}`, events: ['*'] });
    const email = `ada.${width}.${colorScheme}@example.com`;
    await scene.make('POST', '/v1/org/members', { email, role: 'admin' });
    await scene.act('crm.get_customer', { id: '902' });
    return hook['id'] as string;
  };

  it.each(LOOKS)('have no layout or accessibility fault at $width x $height, $colorScheme', async (look) => {
    const hook = await furnish(look);
    const { context, page, complaints } = await scene.window(OWNER, windowOf(look));
    for (const [name, title] of SECTIONS) {
      await open(page, name);
      await page.locator('h1', { hasText: title }).waitFor();
      await judgeWhole(page, `settings-${name}`, look);
    }
    await open(page, hook);
    await button(page, 'Send test').click();
    await page.getByText('The receiver accepted the test').waitFor();
    await judgeWhole(page, 'settings-webhook', look);
    for (const [name, section, press] of DIALOGS) {
      await open(page, section);
      await press(page);
      await judgeWhole(page, `settings-dialog-${name}`, look);
    }
    await open(page, 'admin-keys');
    await button(page, 'New admin key').click();
    await button(page, /^Create admin key$/).click();
    await page.getByLabel('Secret').waitFor();
    await judgeWhole(page, 'settings-dialog-secret', look);
    await context.close();
    expect(complaints).toEqual([]);
  });

  it.each(LOOKS)('have no layout or accessibility fault for a viewer at $width, $colorScheme', async (look) => {
    const { context, page, complaints } = await scene.window(VIEWER, windowOf(look));
    for (const name of ['organization', 'members', 'webhooks']) {
      await open(page, name);
      await page.locator('main').getByText(OWNER).first().waitFor();
      await judgeWhole(page, `settings-viewer-${name}`, look);
    }
    await context.close();
    expect(complaints).toEqual([]);
  });

  describe('a viewer', () => {
    it('reads what a viewer may, but cannot change it', async () => {
      await inWindow(VIEWER, DESK, async (page) => {
        await page.goto(scene.url('/app/settings'));
        await panel(page, 'Retention').getByText('can change this').waitFor();
        expect(await page.locator('main form').count()).toBe(0);
        expect(await settings(page).getByRole('link').allInnerTexts()).toEqual([
          ...['Organization', 'Members', 'Witnesses', 'Sessions and passkeys', 'About'],
        ]);
        await settings(page).getByRole('link', { name: 'Members' }).click();
        await row(page, OWNER).waitFor();
        expect(await button(page, 'Invite person').count()).toBe(0);
        expect(await button(page, /^Actions for/).count()).toBe(1);
      });
    });

    it.each(['admin-keys', 'webhooks', 'security', 'whk_01h2xcejqtf2nbrexx3vqjhp47'])(
      'is told who may see %s',
      async (section) => {
        await inWindow(VIEWER, PHONE, async (page) => {
          await open(page, section);
          await page.getByText('Your role is read-only.').waitFor();
          await page.getByText(OWNER).waitFor();
        });
      },
    );

    it('leaves by two presses, and is signed out at once', async () => {
      await inWindow(VIEWER, PHONE, async (page) => {
        await open(page, 'members');
        await button(page, `Actions for ${VIEWER}`).tap();
        await button(page, 'Leave').tap();
        await button(dialog(page), 'Leave').tap();
        // The answer to the press leads to the sign-in page; so does the refusal of any other request of the page.
        await eventually(() => new URL(page.url()).pathname).toBe('/login');
      });
    });
  });

  // Has to be the last test: from here on the owner's windows begin in the other organization.
  it('let an admin change name and time zone, and say who may change the rest', async () => {
    await scene.besides('Südlicht AG');
    await inWindow(OWNER, DESK, async (page) => {
      await open(page, 'organization');
      await panel(page, 'Retention').getByText('can change this').waitFor();
      expect(await page.locator('main form').count()).toBe(1);
      await panel(page, 'Name and time zone').getByLabel('Name').fill('Südlicht GmbH');
      await button(page, 'Save name and time zone').click();
      await page.getByText('Name and time zone saved.').waitFor();
      await open(page, 'members');
      await button(page, 'Invite person').click();
      expect(await dialog(page).getByRole('radio').count()).toBe(2);
      await button(page, 'Cancel').click();
      // An admin can do nothing to the owner, and for the own membership can only leave.
      await button(page, /^Actions for/).click();
      expect(await page.locator('[popover]:popover-open button').allInnerTexts()).toEqual(['Leave']);
    });
  });
});
