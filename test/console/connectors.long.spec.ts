import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { eventually } from '../http/edge-client.js';
import { OWNER, VIEWER } from './console-scene.js';
import { DESK, PHONE, describeConsole, inWindow, scene } from './describe-console.js';
import { judgeWhole, LOOKS, windowOf } from './whole-screen.js';

const TOKEN = 'a-token-that-nobody-may-see-2026';

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const connector = (name: string): Promise<JsonObject> => scene.make('GET', `/v1/connectors/${name}`);
const description = (page: Page) => page.getByLabel('Description (optional)').first();

/** Goes to another screen without a load of the page. */
const goTo = async (page: Page, screen: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Screens', exact: true }).getByRole('link', { name: screen }).click();
  await page.locator('h1', { hasText: screen }).waitFor();
};

/** The kind of the next question of the page, which is answered so that the person stays. */
const nextQuestion = (page: Page): Promise<string> =>
  new Promise((resolve) => {
    page.once('dialog', (shown) => void shown.dismiss().then(() => resolve(shown.type())));
  });

/** Loads the page again, and expects that it lets itself go without a question. */
const reloadsUnasked = async (page: Page): Promise<void> => {
  const asked: string[] = [];
  page.on('dialog', (shown) => {
    asked.push(shown.type());
    void shown.accept();
  });
  const loaded = page.waitForEvent('load');
  await page.evaluate('void setTimeout(() => location.reload())');
  await loaded;
  expect(asked).toEqual([]);
};

const another = (name: string, changes: JsonObject = {}): Promise<JsonObject> =>
  scene.make('POST', '/v1/connectors', {
    type: 'rest',
    name,
    config: {
      base_url: scene.upstream.baseUrl,
      auth: { kind: 'bearer' },
      allowed_methods: ['GET', 'POST'],
      allowed_path_prefixes: ['/v1'],
      tools: [
        { name: 'get', method: 'GET', path: '/v1/things/{id}', args: { id: { in: 'path', type: 'string' } } },
        { name: 'put', method: 'POST', path: '/v1/things' },
      ],
      ...changes,
    },
  });

describeConsole('connectors in the Console', () => {
  beforeAll(async () => {
    await scene.joinedViewer();
  });

  describe('an admin', () => {
    it('sets one up by the form alone, with tools, and stores its credential, which is never shown', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/connectors'));
        await page.getByRole('link', { name: 'New connector' }).click();
        await page.getByText('Give each tool a name, a method, a path and its arguments.').waitFor();
        await page.getByRole('link', { name: 'Set up: REST API' }).click();
        await page.getByLabel('Name', { exact: true }).fill('billing');
        await page.getByLabel('Description (optional)').fill('Invoices and refunds');
        await page.getByLabel('Address of the API').fill(scene.upstream.baseUrl);
        await page.getByLabel('Kind', { exact: true }).selectOption({ label: 'Bearer token' });
        for (const method of ['GET', 'POST']) await page.getByLabel(method, { exact: true }).check();
        await button(page, 'Add the first path').click();
        await page.keyboard.type('/v1/invoices');
        await button(page, 'Add the first tool').click();
        await page.keyboard.type('get_invoice');
        await page.getByLabel('Method', { exact: true }).selectOption('GET');
        await page.getByLabel('Path', { exact: true }).fill('/v1/invoices/{id}');
        await button(page, 'Add another tool').click();
        await page.keyboard.type('pay_invoice');
        const pay = page.locator('details[data-param="config.tools[1]"]');
        await pay.getByLabel('Description (optional)').first().fill('Pay an invoice');
        await pay.getByLabel('Method', { exact: true }).selectOption('POST');
        await pay.getByLabel('Path', { exact: true }).fill('/v1/invoices/{id}/pay');
        await pay.getByText('More').last().click();
        await pay.getByLabel('Read back after a write').check();
        await pay.getByLabel('Tool that reads').selectOption('get_invoice');
        const readBack = pay.locator('[data-param="config.tools[1].readback.args"]');
        await readBack.getByRole('button', { name: 'Add the first value' }).click();
        await page.keyboard.type('id');
        await readBack.getByLabel('Value of value 1').fill('{{args.id}}');
        await button(page, 'Create connector').click();
        await page.locator('h1', { hasText: 'billing' }).waitFor();
        await page.getByText('No credential is stored. Every call fails').waitFor();
        await button(page, 'Store credential').click();
        await page.getByLabel('token').fill(TOKEN);
        await page.getByRole('dialog').getByRole('button', { name: 'Store credential' }).click();
        await page.getByText('…2026').waitFor();
        expect(await page.content()).not.toContain(TOKEN);
      });
      expect(await connector('billing')).toMatchObject({
        description: 'Invoices and refunds',
        credential: { kind: 'bearer', hint: '2026' },
        config: {
          auth: { kind: 'bearer' },
          allowed_methods: ['GET', 'POST'],
          allowed_path_prefixes: ['/v1/invoices'],
          tools: [
            { name: 'get_invoice', args: { id: { in: 'path', type: 'string', required: true } } },
            {
              name: 'pay_invoice',
              description: 'Pay an invoice',
              readback: { tool: 'get_invoice', args: { id: '{{args.id}}' } },
            },
          ],
        },
      });
    });

    it('is led to a wrong field anywhere in the form, and nothing is stored', async () => {
      await inWindow(OWNER, PHONE, async (page) => {
        await page.goto(scene.url('/app/connectors?add=rest'));
        await page.getByLabel('Name', { exact: true }).fill('faulty');
        await page.getByText('Edit as JSON').tap();
        const config = {
          base_url: scene.upstream.baseUrl,
          allowed_methods: ['GET'],
          allowed_path_prefixes: ['/v1'],
          tools: [
            { name: 'get', method: 'GET', path: '/v1/x', args: { q: { in: 'query', type: 'string', pattern: '(' } } },
          ],
        };
        const json = page.getByLabel('The config as JSON');
        await json.fill('{');
        await button(page, 'Create connector').tap();
        await page.getByText('The JSON has not been applied to the form.').waitFor();
        await json.fill(JSON.stringify(config));
        await button(page, 'Apply to the form').tap();
        await button(page, 'Create connector').tap();
        const pattern = page.getByLabel('Pattern');
        await pattern.waitFor();
        await eventually(() => pattern.getAttribute('aria-invalid')).toBe('true');
        await eventually(() =>
          page.evaluate<string>("document.activeElement.labels?.[0]?.textContent ?? ''"),
        ).toContain('Pattern');
        await pattern.fill('^[a-z]+$');
        await page.getByLabel('Name', { exact: true }).first().fill('mended');
        await button(page, 'Create connector').tap();
        await page.locator('h1', { hasText: 'mended' }).waitFor();
      });
      expect(await connector('mended')).toMatchObject({
        config: { tools: [{ args: { q: { pattern: '^[a-z]+$' } } }] },
      });
    });

    it('keeps the draft if somebody else saved meanwhile, sees their change, and can save over it', async () => {
      const made = await another('shared');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/connectors/${made['id'] as string}`));
        // The next steps: the policy that must allow its tools, and a call of one.
        const way = page.getByRole('region', { name: 'Call a tool' });
        await way.getByRole('link', { name: 'support' }).waitFor();
        expect(await way.locator('pre').innerText()).toContain('"tool":"shared.');
        await page.getByRole('link', { name: 'Change shared' }).click();
        await description(page).fill('Mine');
        const config = (await connector('shared'))['config'] as JsonObject;
        await scene.make('PATCH', '/v1/connectors/shared', { config: { ...config, timeout_ms: 5_000 } });
        await button(page, 'Save changes').click();
        await page.getByText('Another person changed this connector after you started editing.').waitFor();
        await page.getByText('config.timeout_ms').waitFor();
        expect((await connector('shared'))['description']).toBeNull();
        await button(page, 'Continue with my draft').click();
        await page.getByText('Timeout of a call').first().waitFor({ state: 'attached' });
        await button(page, 'Save changes').click();
        await page.getByText('Mine').waitFor();
      });
      expect(await connector('shared')).toMatchObject({ description: 'Mine', config: { timeout_ms: 10_000 } });
    });

    it('finds the draft again after leaving the form', async () => {
      const made = await another('looked-away');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/connectors/${made['id'] as string}?edit=`));
        await description(page).fill('Half a th');
        await goTo(page, 'Deeds');
        await page.goBack();
        await eventually(() => description(page).inputValue()).toBe('Half a th');
        await button(page, 'Discard draft').click();
        await page.getByRole('link', { name: 'Change looked-away' }).waitFor();
      });
      expect((await connector('looked-away'))['description']).toBeNull();
    });

    it('is asked before the page is closed or the session ends, also on another screen than the draft’s', async () => {
      const made = await another('asked-about');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/connectors/${made['id'] as string}?edit=`));
        await description(page).fill('Half a th');
        await goTo(page, 'Overview');
        const closing = nextQuestion(page);
        await page.evaluate('location.reload()');
        expect(await closing).toBe('beforeunload');
        const leaving = nextQuestion(page);
        await button(page, 'Account').click();
        await button(page, 'Sign out').click();
        expect(await leaving).toBe('confirm');
        expect((await page.context().request.get(scene.url('/v1/me'))).status()).toBe(200);
      });
    });

    it('is not asked about the draft of a connector that somebody else has removed', async () => {
      const { id } = await another('removed-meanwhile');
      await inWindow(OWNER, DESK, async (page) => {
        let isGone = false;
        page.on('response', (answer) => {
          isGone ||= answer.url().endsWith(`/v1/connectors/${id as string}`) && answer.status() === 404;
        });
        await page.goto(scene.url(`/app/connectors/${id as string}?edit=`));
        await description(page).fill('Half a th');
        await scene.make('DELETE', `/v1/connectors/${id as string}`);
        // What was read a moment ago is not read again at once.
        await eventually(async () => {
          await goTo(page, 'Overview');
          await page.goBack();
          await description(page).waitFor();
          return isGone;
        }).toBe(true);
        await button(page, 'Back').click();
        await page.getByRole('link', { name: 'Change removed-meanwhile' }).waitFor();
        await reloadsUnasked(page);
      });
    });

    it('can discard a draft after losing the role to save it', async () => {
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app/connectors?add=rest'));
        await page.getByLabel('Name', { exact: true }).fill('half');
        await page.route('**/v1/me', async (route) => {
          const answer = await route.fetch();
          const me = (await answer.json()) as { readonly membership: object };
          await route.fulfill({ response: answer, json: { ...me, membership: { ...me.membership, role: 'viewer' } } });
        });
        // The page asks who is signed in when its window is looked at again.
        await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
        const stranded = page.getByText('You have an unsaved draft here');
        await stranded.waitFor();
        await button(page, 'Discard draft').click();
        await stranded.waitFor({ state: 'detached' });
        await reloadsUnasked(page);
      });
    });

    it('sees the findings of the enforced policy about a change', async () => {
      const { id } = await connector('crm');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url(`/app/connectors/${id as string}?edit=`));
        const tool = page.locator('details', { hasText: 'export_customers' });
        await tool.locator('summary').first().click();
        await button(page, 'Remove export_customers').click();
        await page.getByText('Calls of crm.export_customers are denied from then on.').waitFor();
        await button(page, 'Save changes').click();
        const told = page.getByRole('region', { name: 'Findings of the enforced policy about this change' });
        await told.getByText('crm.export_customers').first().waitFor();
        await told.getByText('no-exports').first().waitFor();
      });
    });

    it('disables, enables and removes one, each by its own button', async () => {
      const made = await another('short-lived');
      await inWindow(OWNER, PHONE, async (page) => {
        await page.goto(scene.url(`/app/connectors/${made['id'] as string}`));
        await button(page, 'Disable short-lived').tap();
        await page.getByText('Disabled', { exact: true }).waitFor();
        await button(page, 'Enable short-lived').tap();
        await page.getByText('Active', { exact: true }).waitFor();
        await button(page, 'Remove short-lived …').tap();
        await page.getByRole('dialog').getByRole('button', { name: 'Remove short-lived' }).tap();
        await page.locator('h1', { hasText: 'Connectors' }).waitFor();
        await eventually(() => page.getByRole('link', { name: 'short-lived' }).count()).toBe(0);
      });
      const gone = await scene.service.call('GET', '/v1/connectors/short-lived', { key: scene.service.adminKey });
      expect(gone.status).toBe(404);
    });

    it('fills in the form by the keyboard alone', async () => {
      await another('by-keys');
      await inWindow(OWNER, DESK, async (page) => {
        await page.goto(scene.url('/app'));
        await page.locator('h1').waitFor();
        await page.keyboard.press('g');
        await page.keyboard.press('c');
        await page.locator('h1', { hasText: 'Connectors' }).waitFor();
        await page.locator('[data-row]').first().waitFor();
        await page.keyboard.press('j');
        await page.keyboard.press('Enter');
        await page.getByText('Tools (2)').waitFor();
        const focused = () => page.evaluate<string>('document.activeElement.textContent');
        for (let tabs = 0; tabs < 60 && (await focused()) !== 'Change by-keys'; tabs += 1)
          await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await page.locator('h1', { hasText: 'Change by-keys' }).waitFor();
        const label = () => page.evaluate<string>('document.activeElement.labels?.[0]?.textContent ?? ""');
        for (let tabs = 0; tabs < 60 && !(await label()).startsWith('Description'); tabs += 1)
          await page.keyboard.press('Tab');
        await page.keyboard.type('By keys');
        await page.keyboard.press('Enter');
        await page.getByText('By keys', { exact: true }).waitFor();
      });
      expect(await connector('by-keys')).toMatchObject({ description: 'By keys' });
    });
  });

  it('shows a viewer all of it, but no button to change it', async () => {
    const { id } = await connector('crm');
    await inWindow(VIEWER, DESK, async (page) => {
      await page.goto(scene.url('/app/connectors?add=rest'));
      await page.getByRole('link', { name: 'crm' }).waitFor();
      expect(await page.getByRole('link', { name: 'New connector' }).count()).toBe(0);
      await page.goto(scene.url(`/app/connectors/${id as string}?edit=`));
      await page.getByText('crm.set_status').first().waitFor();
      expect(await page.getByRole('link', { name: /^Change / }).count()).toBe(0);
      expect(await page.getByRole('button', { name: /credential|Disable|Remove|Save/ }).count()).toBe(0);
    });
  });

  it.each(LOOKS)('has no layout or accessibility fault at $width x $height, $colorScheme', async (look) => {
    const [{ id }, bearer] = await Promise.all([connector('crm'), another(`look-${look.width}-${look.colorScheme}`)]);
    const screens = {
      connectors: '/app/connectors',
      'connectors-catalogue': '/app/connectors?add=',
      'connectors-new': '/app/connectors?add=rest',
      connector: `/app/connectors/${id as string}`,
      'connector-no-credential': `/app/connectors/${bearer['id'] as string}`,
      'connector-edit': `/app/connectors/${id as string}?edit=`,
      'connector-not-there': '/app/connectors/con_01h2xcejqtf2nbrexx3vqjhp46',
    };
    await scene.act('crm.get_customer', { id: '1' });
    await scene.act('crm.get_customer', { id: 'gone' });
    await inWindow(OWNER, windowOf(look), async (page) => {
      for (const [name, path] of Object.entries(screens)) {
        await page.goto(scene.url(path));
        await page.locator('h1').first().waitFor();
        await judgeWhole(page, name, look);
      }
      await page.goto(scene.url(screens['connectors-new']));
      await page.getByLabel('Name', { exact: true }).fill('crm');
      await button(page, 'Create connector').click();
      await page.getByText('This field is required.').first().waitFor();
      await judgeWhole(page, 'connectors-new-refused', look);
      await page.goto(scene.url(screens['connector-edit']));
      await page.locator('summary', { hasText: 'set_status' }).click();
      for (const more of await page.locator('details[data-param="config.tools[2]"] summary', { hasText: 'More' }).all())
        await more.click();
      await page.locator('details[data-param="config.tools[2]"]').scrollIntoViewIfNeeded();
      await judgeWhole(page, 'connector-edit-tool', look);
      await page.goto(scene.url(screens['connector-no-credential']));
      await button(page, 'Store credential').click();
      await judgeWhole(page, 'connector-credential', look);
      await page.keyboard.press('Escape');
      await button(page, /^Remove \S+ …$/).click();
      await judgeWhole(page, 'connector-remove', look);
    });
  });
});
