import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { fingerprintOf, type SealKeyEntry } from '#libs/crypto';
import { eventually } from '../http/edge-client.js';
import { runAgsHere } from '../support/run-ags.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, PHONE, browser, describeConsole, inWindow, scene } from './describe-console.js';

const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');
const panel = (page: Page, name: string) => page.getByRole('region', { name });
const row = (page: Page, text: string) => page.locator('tbody tr').filter({ hasText: text });

const open = (page: Page, section: string) => page.goto(scene.url(`/app/settings/${section}`));

/** The status that a request with a secret gets. */
const opens = async (key: string): Promise<number> => (await scene.service.call('GET', '/v1/org/keys', { key })).status;

describeConsole('the settings of the Console', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
  });

  describe('the organization', () => {
    it('has its name and time zone changed, and shows the deed of the change', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, 'organization');
        const form = panel(page, 'Name and time zone');
        await form.getByLabel('Name').fill('Nordlicht AG');
        await form.getByLabel('Time zone').selectOption('Asia/Tokyo');
        await button(form, 'Save name and time zone').click();
        await form.getByText('Name and time zone saved.').waitFor();
        await page.getByText('Times: Tokyo, GMT+9').first().waitFor();
        await page.getByRole('navigation', { name: 'Screens', exact: true }).getByText('Nordlicht AG').waitFor();
        await form.getByRole('link', { name: 'View deed' }).click();
        await page.getByText('org.updated').first().waitFor();
      });
    });

    it('shows an error at its field, and changes nothing', async () => {
      await inWindow(OWNER, PHONE, async (page) => {
        await open(page, 'organization');
        const form = panel(page, 'Name and time zone');
        await form.getByLabel('Name').fill('  ');
        await button(form, 'Save name and time zone').tap();
        await form.getByRole('alert').getByText('A name must be one line').waitFor();
        expect(await form.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
        await eventually(() => page.evaluate('document.activeElement.value')).toBe('  ');
        expect((await scene.make('GET', '/v1/org'))['name']).not.toBe('  ');
      });
    });

    it('warns before the press that shorter retention removes stored bodies', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, 'organization');
        const form = panel(page, 'Retention');
        await form.getByLabel('Custom').check();
        await form.getByLabel('Days', { exact: true }).fill('30');
        await form.getByText('Bodies older than 30 days are removed').waitFor();
        await button(form, 'Shorten retention and remove older bodies').click();
        await form.getByText('Retention saved.').waitFor();
        expect((await scene.make('GET', '/v1/org'))['retention_days']).toBe(30);
        await form.getByLabel('90 days').check();
        await button(form, 'Save retention').click();
        await eventually(async () => (await scene.make('GET', '/v1/org'))['retention_days']).toBe(null);
      });
    });

    it('has its notification of approvers and their time limit changed', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, 'organization');
        const form = panel(page, 'Approvals');
        await form
          .getByRole('group', { name: 'Mail' })
          .getByLabel(/decide in the Console/)
          .check();
        await form.getByLabel('Approvals expire after').fill('90');
        await form.getByLabel('Unit', { exact: true }).selectOption('minutes');
        await button(form, 'Save approval settings').click();
        await form.getByText('Approval settings saved.').waitFor();
        const { approvals } = await scene.make('GET', '/v1/org');
        expect(approvals).toEqual({ mail: 'review_only', chat: 'off', expires_in_s: 5_400, signed: false });
        await form.getByLabel('Approvals expire after').fill('90000');
        await button(form, 'Save approval settings').click();
        await form
          .getByRole('alert')
          .getByText(/2592000/)
          .waitFor();
      });
    });
  });

  describe('members', () => {
    it('are invited, invited again, and no longer invited', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, 'members');
        await row(page, VIEWER).waitFor();
        await button(page, 'Invite person').click();
        await page.getByLabel('E-mail address').fill('not an address');
        await dialog(page).getByLabel('Admin').check();
        await button(page, 'Send invitation').click();
        await dialog(page)
          .getByRole('alert')
          .getByText(/plain address/)
          .waitFor();
        await page.getByLabel('E-mail address').fill('ada@example.com');
        await button(page, 'Send invitation').click();
        await row(page, 'ada@example.com').getByText('Invited').waitFor();
        await row(page, 'ada@example.com').getByText('link works until').waitFor();
        await button(page, 'Actions for ada@example.com').click();
        await button(page, 'Invite again').click();
        await button(page, 'Send invitation').click();
        await page.getByText('ada@example.com is invited.').waitFor();
        await button(page, 'Actions for ada@example.com').click();
        await button(page, 'Withdraw invitation').click();
        await button(dialog(page), 'Withdraw invitation of ada@example.com').click();
        await page.getByText('ada@example.com is no longer invited.').waitFor();
        await eventually(() => row(page, 'ada@example.com').count()).toBe(0);
      });
    });

    it('have their role and references changed by an owner, by keys alone', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, 'members');
        await button(page, `Actions for ${VIEWER}`).focus();
        await page.keyboard.press('Enter');
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await dialog(page).waitFor();
        await dialog(page).getByLabel('Viewer').focus();
        await page.keyboard.press('ArrowDown');
        expect(await dialog(page).getByLabel('Admin').isChecked()).toBe(true);
        await page.keyboard.press('ArrowUp');
        await dialog(page).getByLabel('References, one per line').focus();
        await page.keyboard.insertText('customer:1');
        await button(page, 'Save member').focus();
        await page.keyboard.press('Enter');
        await page.getByText(`${VIEWER} was saved with the role viewer.`).waitFor();
        const { data } = (await scene.make('GET', '/v1/org/members')) as { data: Record<string, unknown>[] };
        expect(data.find(({ email }) => email === VIEWER)).toMatchObject({
          references: ['customer:1'],
          role: 'viewer',
        });
      });
    });

    it('keep their last owner, who is told why', async () => {
      await inWindow(OWNER, PHONE, async (page) => {
        await open(page, 'members');
        await button(page, `Actions for ${OWNER}`).tap();
        await button(page, 'Leave').tap();
        await button(dialog(page), 'Leave').tap();
        await dialog(page).getByRole('alert').getByText('Make someone else an owner first.').waitFor();
        await dialog(page).getByText('last_owner').waitFor();
        await button(page, 'Cancel').tap();
        await row(page, OWNER).getByText('you', { exact: true }).waitFor();
      });
    });
  });

  describe('admin keys', () => {
    it('are made with a secret that is shown once, rolled with an overlap, and revoked', async () => {
      await inWindow(OWNER, { ...DESK, permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
        await open(page, 'admin-keys');
        await button(page, 'New admin key').click();
        await dialog(page).getByLabel('Test').check();
        await button(dialog(page), 'Create admin key').click();
        const made = dialog(page).getByLabel('Secret');
        const secret = await made.innerText();
        expect(secret).toMatch(/^svc_test_/);
        await page.keyboard.press('Escape');
        await dialog(page).getByText('You have not copied the secret').waitFor();
        await button(dialog(page), 'Copy secret').click();
        await dialog(page).getByText('Copied.').waitFor();
        expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
        await button(dialog(page), 'I have stored it').click();
        expect(await opens(secret)).toBe(200);
        expect(await page.content()).not.toContain(secret);

        const prefix = secret.slice(0, 17);
        await button(page, `Roll ${prefix}`).click();
        await dialog(page).getByLabel('After 1 hour').check();
        await button(dialog(page), 'Roll key').click();
        const rolled = await made.innerText();
        await button(dialog(page), 'I have stored it').click();
        await row(page, prefix).getByText('works until').waitFor();
        expect([await opens(secret), await opens(rolled)]).toEqual([200, 200]);

        await button(page, `Revoke ${prefix}`).click();
        await button(dialog(page), 'Revoke key').click();
        await page.getByText(`${prefix}… is revoked`).waitFor();
        await page.getByText('1 inactive key').click();
        await row(page, prefix).getByText('Revoked').waitFor();
        expect([await opens(secret), await opens(rolled)]).toEqual([401, 200]);
      });
    });

    it('are made once, if the answer was lost and the button is pressed again', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        const keys: (string | undefined)[] = [];
        page.on('request', (request) => {
          if (request.method() === 'POST') keys.push(request.headers()['idempotency-key']);
        });
        await open(page, 'admin-keys');
        await button(page, 'New admin key').click();
        await page.context().setOffline(true);
        await button(dialog(page), 'Create admin key').click();
        await dialog(page).getByText('The service did not answer.').waitFor();
        await page.context().setOffline(false);
        await button(dialog(page), 'Create admin key').click();
        await dialog(page).getByLabel('Secret').waitFor();
        expect(keys).toEqual([expect.stringMatching(/^console-/), keys[0]]);
      });
    });
  });

  describe('sessions', () => {
    /** Opens a window that is signed in by an operator's link. */
    const anotherWindow = async (): Promise<Page> => {
      const { object } = await runAgsHere(['people', 'login-link', '--json'], { env: scene.service.environment });
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(String(object['link']).replace(/^https?:\/\/[^/]+/, scene.service.baseUrl));
      await button(page, 'Sign in').click();
      await page.waitForURL('**/app');
      return page;
    };

    it('are ended from another session, which goes on', async () => {
      const other = await anotherWindow();
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, 'sessions');
        await page.getByText('This session', { exact: true }).waitFor();
        const ends = button(page, 'End session');
        await ends.first().click();
        await page.getByText('No other sessions.').waitFor();
        expect(await ends.count()).toBe(0);
      });
      await other.goto(scene.url('/app/agents'));
      await other.waitForURL('**/login?next=*');
      await other.context().close();
    });

    it('are all ended except this one', async () => {
      const others = [await anotherWindow(), await anotherWindow()];
      await inWindow(OWNER, PHONE, async (page) => {
        await open(page, 'sessions');
        await eventually(() => button(page, 'End session').count()).toBe(2);
        await button(page, 'End all other sessions').tap();
        await page.getByText('No other sessions.').waitFor();
        await page.reload();
        await page.getByText('No other sessions.').waitFor();
      });
      for (const other of others) await other.context().close();
    });

    it('are recorded in the security events', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await open(page, 'security');
        await row(page, OWNER).getByText('signed in with a mail code').first().waitFor();
        await row(page, VIEWER).getByText('signed in with an invitation').first().waitFor();
        await row(page, OWNER).getByText('session ended from another session').first().waitFor();
        // A choice that stands for several types.
        await page.goto(scene.url('/app/settings/security?type=sign-ins'));
        await row(page, OWNER).getByText('signed in with a mail code').first().waitFor();
      });
    });
  });

  it('show the running version, and the fingerprint of the seal key', async () => {
    const { keys } = (await (await fetch(scene.url('/.well-known/service/keys.json'))).json()) as {
      keys: [SealKeyEntry];
    };
    await inWindow(VIEWER, PHONE, async (page) => {
      await open(page, 'about');
      const text = panel(page, 'Seal keys');
      await text.getByText('Active').waitFor();
      await text.getByText(fingerprintOf(keys[0])).waitFor();
      for (const link of await panel(page, 'Read on').getByRole('link').all())
        expect((await fetch(scene.url((await link.getAttribute('href')) ?? ''))).status).toBe(200);
    });
  });

  it('are found by name, and one’s sessions from the account', async () => {
    await inWindow(OWNER, DESK, async (page) => {
      await page.goto(scene.url('/app'));
      await page.locator('h1').waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').waitFor();
      await page.keyboard.insertText('admin k');
      await page.keyboard.press('Enter');
      await page.locator('h1', { hasText: 'Admin keys' }).waitFor();
      await button(page, 'Account').click();
      await page.getByRole('link', { name: 'Your sessions' }).click();
      await page.locator('h1', { hasText: 'Sessions and passkeys' }).waitFor();
    });
  });

  // Has to be the last test: it ends all sessions of the owner.
  it('end every session at once, this one too', async () => {
    const { context, page } = await scene.window(OWNER, DESK);
    await open(page, 'sessions');
    await button(page, 'Sign out everywhere').click();
    await button(dialog(page), 'Sign out everywhere').click();
    // The answer to the press leads to the sign-in page; so does the refusal of any other request of the page.
    await eventually(() => new URL(page.url()).pathname).toBe('/login');
    expect((await context.request.get(scene.url('/v1/me'))).status()).toBe(401);
    await context.close();
  });
});
